"""A run as text: the instrument first, then the races, then what follows and what was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from nanokata.budget import BUDGET_NS, TARGET_PACKETS_PER_SECOND, has_budget
from nanokata.results.records import CellResult, Check, Report

from . import numbers, tables
from .applying import applies, applying
from .headline import headline
from .instrument import instrument_renderable
from .sabotage import sabotage_conclusion, sabotage_lines
from .tails import tails
from .traps import trap_renderable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.results import RunResult

_MOST_ARMS_OF_A_SERIES = 3
_MOST_RACES_SIDE_BY_SIDE = 5
_FEWEST_RACES_OF_A_SERIES = 5
_MOST_REASONS = 2


def _setting(result: RunResult, report: Report, cell: CellResult) -> str:
    varying = [name for name in report.varying() if applies(name, cell.parameters)] or list(applying([cell]))[:3]
    return ", ".join(f"{name} {result.spoken(name, cell.parameters[name])}" for name in varying)


def _fixed(result: RunResult, report: Report, apart_from: Report | None = None) -> str:
    """Return the parameters that all cells share; only those that differ from another report's, if given."""
    varying = report.varying()
    first = report.cells[0].parameters
    shared = {name: first[name] for name in applying(report.cells) if name in first and name not in varying}
    if apart_from is not None and apart_from.cells:
        other = apart_from.cells[0].parameters
        shared = {name: value for name, value in shared.items() if other.get(name, value) != value}
    return ", ".join(f"{name} {result.spoken(name, value)}" for name, value in shared.items())


def _races(
    result: RunResult, report: Report, beside: Report | None, *, compact: bool = False
) -> Iterator[RenderableType]:
    """Yield a report's tables: the first group of races in full unless `compact`, the others side by side."""
    for number, cells in enumerate(report.groups()):
        yield from _group(result, report, cells, beside, in_full=number == 0 and beside is None and not compact)
    yield from _flags(report)
    missing = tables.not_counted(report.cells) if beside is None else None
    if missing is not None:
        yield Text(missing, style="dim")


def _group(
    result: RunResult, report: Report, cells: tuple[CellResult, ...], beside: Report | None, *, in_full: bool
) -> Iterator[RenderableType]:
    along = report.along()
    same_arms = len({tuple(arm.arm for arm in cell.arms) for cell in cells}) == 1
    title = _group_title(result, report, cells, beside)
    if same_arms and len(cells[0].arms) <= _MOST_ARMS_OF_A_SERIES and len(cells) >= _FEWEST_RACES_OF_A_SERIES:
        names = [along] if along else list(report.varying())
        rows = [[result.spoken(name, cell.parameters[name]) for name in names] for cell in cells]
        yield tables.series_table(cells, names, rows, title)
        yield from _footer(result, report, cells)
    elif same_arms and not in_full and 1 < len(cells) <= _MOST_RACES_SIDE_BY_SIDE and along:
        heads = [result.spoken(along, cell.parameters[along]) for cell in cells]
        yield tables.side_by_side(cells, heads, f"{title}, by {along}" if title else f"by {along}")
        yield from _footer(result, report, cells, f"± half an interval at {numbers.level(cells[0].median_level)}; ")
    else:
        for cell in cells:
            heading = _setting(result, report, cell) if beside is None else title
            yield tables.race_table(cell, heading)
            yield from _footer(result, report, (cell,))


def _footer(
    result: RunResult, report: Report, cells: tuple[CellResult, ...], before: str = ""
) -> Iterator[RenderableType]:
    """Yield what stands below every table, whatever its layout: how it was measured, and a race's counters a line."""
    for line in tables.voided(cells, [_setting(result, report, cell) for cell in cells]):
        yield Text(line, style="yellow")
    yield Text(before + tables.how_measured(*cells), style="dim")
    cold = tables.cold(*cells)
    if cold is not None:
        yield Text(cold, style="dim")
    for cell in cells:
        events = tables.counted(cell)
        if events is not None:
            where = f" ({_setting(result, report, cell)})" if len(cells) > 1 else ""
            yield Text(events + where, style="dim")
    yield Text()


def _group_title(result: RunResult, report: Report, cells: tuple[CellResult, ...], beside: Report | None) -> str:
    varying = [name for name in report.varying() if name != report.along()]
    others = [name for name in applying(cells) if name in varying]
    setting = ", ".join(f"{name} {result.spoken(name, cells[0].parameters[name])}" for name in others)
    if beside is None:
        return setting
    fixed = _fixed(result, report, beside)
    return ", ".join(filter(None, (report.experiment, setting, fixed)))


def _flags(report: Report) -> Iterator[RenderableType]:
    flagged = Counter((flag, arm.arm) for cell in report.cells for arm in cell.arms for flag in arm.flags)
    by_flag: dict[str, list[str]] = {}
    for flag, arm in flagged:
        by_flag.setdefault(flag, []).append(arm)
    for flag, arms in by_flag.items():
        yield Text(f"{flag}: {', '.join(arms)}{_wider_margins(report, arms)}", style="yellow")


def _wider_margins(report: Report, arms: Collection[str]) -> str:
    """Return by which margin flagged arms were judged, where that isn't the race's own."""
    every = [(cell, arm) for cell in report.cells for arm in cell.arms if arm.arm in arms]
    wider = [arm.margin for cell, arm in every if arm.margin is not None and arm.judged_wider(cell)]
    return f" (judged by ±{100 * max(wider):.1f} %, what layout alone can do)" if wider else ""


def _spoken_outcome(check: Check) -> str:
    """Return the outcome as a reader wants it: a control that is too wide did apply, and says nothing."""
    return "inconclusive" if check.inconclusive else check.outcome.replace("_", " ")


def _check_line(check: Check, where: str) -> Text:
    style = "red" if check.outcome == "failed" else "dim"
    word = _spoken_outcome(check)
    place = f" ({where})" if where else ""
    return Text.assemble((word, style), f" {check.name}{place}: {check.detail}")


def placed_checks(result: RunResult) -> Iterator[tuple[Check, str]]:
    """Yield every check of a run, with the experiment and the setting that it belongs to."""
    for report in result.report.reports():
        prefix = "" if report is result.report else report.experiment
        for check in report.checks:
            yield check, prefix
        for cell in report.cells:
            setting = _setting(result, report, cell) if len(report.cells) > 1 else ""
            for check in cell.checks:
                yield check, ", ".join(filter(None, (prefix, setting)))


def _checks(result: RunResult) -> Iterator[RenderableType]:
    yield from checks_renderable(list(placed_checks(result)))


def checks_renderable(placed: Sequence[tuple[Check, str]]) -> Iterator[RenderableType]:
    """Yield what was checked: the counts, what held by name, what didn't in full; `placed` says where each was."""
    if not placed:
        return
    counts = Counter(_spoken_outcome(check) for check, _ in placed)
    inconclusive = f"{counts['inconclusive']} inconclusive, " if counts["inconclusive"] else ""
    fired = f"{counts['fired']} fired where they had to, " if counts["fired"] else ""
    yield Text(
        f"Checks: {counts['held']} held, {counts['failed']} failed, "
        f"{inconclusive}{fired}{counts['not applicable']} not applicable",
        style="bold red" if counts["failed"] else "bold",
    )
    held = Counter(_family(check) for check, _ in placed if check.outcome == "held")
    if held:
        names = (name if count == 1 else f"{name} ×{count}" for name, count in held.items())
        yield Text("held " + ", ".join(names), style="dim")
    others: dict[tuple[str, str], list[Text]] = {}
    for check, where in placed:
        if check.outcome != "held":
            others.setdefault((check.outcome, _family(check)), []).append(_check_line(check, where))
    for (outcome, family), lines in others.items():
        # What failed is shown in full; reasons why something can't be examined repeat themselves.
        shown = lines if outcome in {"failed", "fired"} else lines[:_MOST_REASONS]
        yield from shown
        if len(shown) < len(lines):
            yield Text(f"… and {len(lines) - len(shown)} more of {family} (--json has them all)", style="dim")


def _family(check: Check) -> str:
    return check.name.partition(":")[0]


def _facts(result: RunResult) -> Iterator[RenderableType]:
    """Yield what is known besides the races, and what the requirements exclude whatever it costs."""
    excluded = dict.fromkeys(
        f"excluded: {arm.arm} {arm.excludes}"
        for report in result.report.reports()
        for cell in report.cells
        for arm in cell.arms
        if arm.excludes
    )
    if not excluded and not result.facts:
        return
    yield Text("What is known besides", style="bold")
    for line in excluded:
        yield Text(line)
    for fact in result.facts:
        yield Text.assemble((f"{fact.origin}: ", "dim"), fact.text)
    yield Text()


def trap_in_short(result: RunResult) -> RenderableType:
    """Return what a trap teaches, and what it comes to where that isn’t as it should be; other runs in full."""
    if result.trap is None:
        return run_renderable(result)
    parts: list[RenderableType] = [
        Text(f"{result.experiment}: {result.title}", style="bold"),
        trap_renderable(result.trap),
    ]
    if result.exit_code != 0:
        parts.append(_conclusion(result))
    return Group(*parts)


def _conclusion(result: RunResult) -> Text:
    match result.exit_code:
        case 0:
            return Text(_none_failed(result), style="bold green")
        case 1:
            names = ", ".join(dict.fromkeys(check.name for check in result.checks if check.voids))
            return Text(f"A check failed ({names}): what rests on it is void.", style="bold red")
        case _:
            return Text(
                f"No verdict: {_why_none(result)}. More time (--seconds) or a quieter machine may do.",
                style="bold yellow",
            )


def _none_failed(result: RunResult) -> str:
    if not result.checks:
        return "Nothing was checked."
    counts = Counter(_spoken_outcome(check) for check in result.checks if check.outcome != "held")
    return (
        f"No check failed; {', '.join(f'{n} {word}' for word, n in counts.items())}." if counts else "All checks held."
    )


def _why_none(result: RunResult) -> str:
    for report in result.report.reports():
        for cell in report.cells:
            if cell.status == "no_verdict" and not cell.faulty:
                where = ", ".join(filter(None, (report.experiment, _setting(result, report, cell))))
                return f"{cell.reason or 'the verdicts don’t stand'} ({where})"
    failed = next(check for check in result.failed_checks)
    return f"{failed.name}: {failed.detail}"


def races_and_facts(result: RunResult, *, compact: bool = False) -> Iterator[RenderableType]:
    """Yield a run's races, its companions' too, what follows from them, and what is known besides."""
    report = result.report
    yield from _races(result, report, None, compact=compact)
    for companion in report.companions:
        yield from _races(result, companion, report)
    yield from tails([(_setting(result, report, cell), cell) for cell in report.cells])
    if result.contrasts:
        yield from (tables.contrast_table(result.contrasts), Text())
    yield from _facts(result)


def fixed_parameters(result: RunResult) -> str:
    """Return the parameters that all races of a run share, as one line."""
    return _fixed(result, result.report) if result.report.cells else ""


def run_renderable(result: RunResult) -> RenderableType:
    """Return a run: the instrument, the races, what follows, the checks."""
    report = result.report
    parts: list[RenderableType] = [Text(f"{report.experiment}: {report.title}", style="bold")]
    if report.sabotage is not None:
        return Group(*parts, *sabotage_lines(report), sabotage_conclusion(report))
    if report.trap is not None:
        parts += [trap_renderable(report.trap), Text()]
    parts += instrument_renderable(result)
    if report.cells and has_budget(report.cells[0].unit):
        rate = TARGET_PACKETS_PER_SECOND / 1e6
        parts.append(Text(f"budget: {BUDGET_NS:.0f} ns a packet at {rate:g} M packets/s", style="dim"))
    fixed = fixed_parameters(result)
    if fixed:
        parts.append(Text(fixed, style="dim"))
    parts.append(Text())
    parts += races_and_facts(result)
    summed_up = headline(result)
    if summed_up is not None:
        parts += [Text(summed_up, style="bold"), Text()]
    parts += _checks(result)
    parts.append(_conclusion(result))
    return Group(*parts)

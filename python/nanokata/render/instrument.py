"""The machine card, the doctor and the instrument's figures as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from . import numbers
from .tables import blank, titled

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.instrument import Doctor, Machine
    from nanokata.results import RunResult


def _flat(value: Any, key: str = "") -> str:  # noqa: ANN401 (JSON)
    """Return a JSON value as a reader wants it; objects in a list get a line each."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and key.endswith("bytes"):
        return numbers.byte_count(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_flat(inner, name)}" for name, inner in value.items())
    if isinstance(value, list) and key == "caches" and value:
        return _caches(value)
    if isinstance(value, list):
        joint = "\n" if any(isinstance(item, Mapping) for item in value) else ", "
        return joint.join(_flat(item, key) for item in value) or "none"
    return str(value).removeprefix(f"{key} ")  # a compiler's version names the compiler


_HELD_BY = {"data": "d", "instruction": "i", "unified": ""}


def _caches(caches: Sequence[Mapping[str, Any]]) -> str:
    """Return a line a kind of cache: L1d 32 KiB ×2, 8-way, 64 B lines."""
    counts: Counter[tuple[Any, ...]] = Counter(
        tuple(cache.get(field) for field in ("level", "kind", "bytes", "ways", "line_bytes")) for cache in caches
    )
    lines = []
    for (level, kind, size, ways, line), count in counts.items():
        many = f" ×{count}" if count > 1 else ""
        parts = [f"L{level}{_HELD_BY.get(str(kind), '')} {numbers.byte_count(size)}{many}"]
        parts += [f"{ways}-way"] if ways else []
        parts += [f"{numbers.byte_count(line)} lines"] if line else []
        lines.append(", ".join(parts))
    return "\n".join(lines)


def card_rows(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a card's lines: what, and what it is."""
    for key, value in data.items():
        yield key.replace("_", " "), _flat(value, key)


def _pairs(data: Mapping[str, Any], title: str) -> RenderableType:
    table = blank()
    table.show_header = False
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for row in card_rows(data):
        table.add_row(*row)
    return titled(title, table)


def machine_renderable(machine: Machine) -> RenderableType:
    """Return the machine card as a table."""
    return _pairs(machine, f"machine {machine.id}")


_RATES = {
    "raw_exclusion_rate": "raw 95 % interval excludes zero (nominally 5 %)",
    "false_verdict_rate": "called different from itself",
    "detection_rate_1": "1 % of extra packets called slower",
    "detection_rate_2": "2 % of extra packets called slower",
}


def _rate(rate: Mapping[str, Any]) -> str:
    return f"{100 * rate['rate']:.1f} % [{100 * rate['low']:.1f}, {100 * rate['high']:.1f}]"


def _again(body: Mapping[str, Any]) -> str:
    """Return by how much an arm differs from itself: −0.01 % (−0.05…+0.03)."""
    ratios = [body.get(f"again_{end}") for end in ("ratio", "low", "high")]
    if any(ratio is None for ratio in ratios):
        return "not known"
    middle, low, high = (f"{100 * (ratio - 1):+.2f}".replace("-", "−") for ratio in ratios if ratio is not None)
    return f"{middle} % ({low}…{high})"


def _rates(doctor: Doctor) -> RenderableType:
    bodies = doctor["bodies"]
    table = blank()
    table.add_column("how often", ratio=1)
    for body in bodies:
        table.add_column(f"{body['body']} bodies", no_wrap=True)
    if any(body.get("again_ratio") is not None for body in bodies):
        table.add_row("against itself", *(_again(body) for body in bodies))
    for key, words in _RATES.items():
        table.add_row(words, *(_rate(body[key]) for body in bodies))
    table.add_row(
        "time cost of 1 %, of 2 %",
        *(f"{100 * (body['cost_of_1'] - 1):+.2f} %, {100 * (body['cost_of_2'] - 1):+.2f} %" for body in bodies),
    )
    table.add_row("half-width of a ratio", *(f"±{100 * body['half_width']:.3f} %" for body in bodies))
    if all(body.get("layout_spread") is not None for body in bodies):
        spreads = (f"{100 * body['layout_spread']:.2f} %" for body in bodies)
        table.add_row("between code layouts", *spreads)
    how = (
        f"{doctor['trials']} trials a body"
        if doctor["trials"]
        else "one race a body, its blocks resampled with signs drawn, so that the first two rates show "
        "calibration only (--trials N runs races of their own)"
    )
    note = f"{how}; {numbers.seconds(doctor['trial_seconds'])} each; margin ±{100 * doctor['margin']:g} %; "
    return Group(table, Text(note + "Clopper–Pearson intervals at 95 %", style="dim"))


def _instrument_table(seen: Mapping[str, Any]) -> RenderableType:
    floor = numbers.interval(seen["floor_low_ns"], seen["floor_high_ns"])
    low, middle, high = seen["ghz"]
    table = blank()
    table.show_header = False
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    table.add_row("clock", f"tick {numbers.cost(seen['tick_ns'])} ns, a read {numbers.cost(seen['clock_read_ns'])} ns")
    table.add_row("floor", f"{numbers.cost(seen['floor_ns'])} ns/packet {floor}: loop and fold alone")
    table.add_row("canary", f"{middle:.2f} GHz ({low:.2f}–{high:.2f})")
    table.add_row("CPU", "not pinned" if seen["cpu"] is None else str(seen["cpu"]))
    table.add_row("priority", str(seen["priority"]))
    there = [counter["name"] for counter in seen["counters"] if counter["available"]]
    table.add_row("counters", ", ".join(there) or "none")
    missing: dict[str, list[str]] = {}
    for counter in seen["counters"]:
        if not counter["available"]:
            missing.setdefault(str(counter["reason"]), []).append(counter["name"])
    for reason, names in missing.items():
        table.add_row("", f"without {', '.join(names)}: {reason}")
    for check in seen["checks"]:
        if check["outcome"] != "held":
            table.add_row(check["name"], f"{check['outcome'].replace('_', ' ')}: {check['detail']}")
    return titled("instrument", table)


def doctor_renderable(doctor: Doctor, *, card: bool = True) -> RenderableType:
    """Return the doctor's findings: the verdict first, the machine last unless `card` is off."""
    style = {0: "bold green", 1: "bold red"}.get(doctor.exit_code, "bold yellow")
    parts: list[RenderableType] = [Text(doctor.verdict, style=style), Text(), _rates(doctor), Text()]
    parts.append(_instrument_table(doctor))
    if card:
        parts += [Text(), _pairs(doctor["machine"], "machine")]
    return Group(*parts)


def _instrument_figures(result: RunResult) -> Iterator[str]:
    # What this run didn't measure itself, an earlier doctor of this machine and build did.
    figures = {**(result.doctor or {}), **result.instrument}
    cells = result.report.cells
    if "tick_ns" in figures:
        yield f"tick {numbers.cost(figures['tick_ns'])} ns"
    if "floor_ns" in figures:
        yield f"floor {numbers.cost(figures['floor_ns'])} ns/op"
    speeds = [cell.disturbances.ghz for cell in cells if cell.disturbances.ghz]
    if speeds:
        middle = sorted(speed[len(speed) // 2] for speed in speeds)[len(speeds) // 2]
        low, high = min(speed[0] for speed in speeds), max(speed[-1] for speed in speeds)
        yield f"canary {middle:.2f} GHz ({low:.2f}–{high:.2f})"
    where = {cell.cpu for cell in cells}
    if len(where) == 1 and None not in where:
        yield f"CPU {where.pop()}"
    elif cells:
        yield ("not pinned" if None in where else f"CPUs {', '.join(str(cpu) for cpu in sorted(where, key=str))}")


def _noise(result: RunResult) -> str:
    seen = [cell.disturbances for report in result.report.reports() for cell in report.cells]
    redone = sum(item.rounds_redone for item in seen)
    dropped = sum(item.rounds_dropped for item in seen)
    stolen = [item.stolen_ns for item in seen if item.stolen_ns is not None]
    parts = [
        f"{redone} rounds redone" + (f", {dropped} left out" if dropped else ""),
        f"{sum(item.involuntary_switches for item in seen)} switches",
        f"{sum(item.migrations for item in seen)} migrations",
        f"{sum(item.page_faults for item in seen)} faults",
    ]
    width_changes = sum(item.width_changes for item in seen)
    if width_changes:
        parts.append(f"{width_changes} times a busy sibling of the core")
    if stolen:
        parts.append(f"{numbers.cost(sum(stolen) / 1e6)} ms stolen")
    return "noise: " + ", ".join(parts)


def instrument_renderable(result: RunResult) -> Iterator[RenderableType]:
    """Yield the doctor's line, the instrument's figures and the noise seen, a line each."""
    if result.doctor is not None:
        yield Text(f"doctor: {result.doctor.verdict}")
    else:
        yield Text("doctor: not asked on this machine and build yet (nanokata doctor)", style="dim")
    figures = ", ".join(_instrument_figures(result))
    if figures:
        yield Text(f"instrument: {figures}")
    if result.report.cells:
        yield Text(_noise(result))

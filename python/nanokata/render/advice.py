"""Advice as text: what was counted, what it costs, what to do and why, each line from values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from . import numbers
from .tables import blank

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.advice import Advice, Figure

CHOICES = {
    "neither": "keep the list: neither sorting nor a table is worth it",
    "sort": "sort the list and go home",
    "table": "build a table",
}


def advice_renderable(advice: Advice) -> RenderableType:
    """Return the table of the three ways, and the lines that lead to the recommendation."""
    lines = Table.grid(padding=(0, 1, 0, 0))
    lines.add_column(no_wrap=True, style="dim")
    lines.add_column(overflow="fold")
    for name, text in (("traffic", _traffic(advice)), ("handlers", _handlers(advice)), ("budget", _budget(advice))):
        lines.add_row(name, text)
    after = Table.grid(padding=(0, 1, 0, 0))
    after.add_column(no_wrap=True, style="dim")
    after.add_column(overflow="fold")
    after.add_row("sorting", _sorting(advice))
    after.add_row("order", _reordering(advice))
    after.add_row("costs", _costs(advice))
    found = advice.recommendation
    after.add_row("advice", Text(CHOICES[found.choice], style="bold green"))
    for at, reason in enumerate(found.because):
        after.add_row("because" if at == 0 else "", reason)
    if found.close:
        after.add_row("", "an interval reaches across its threshold: measured again, it may fall on the other side")
    for at, condition in enumerate(found.conditions):
        after.add_row("if" if at == 0 else "", condition)
    after.add_row("rule", Text(_rule(advice), style="dim"))
    return Group(lines, _ways(advice), after)


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.6g}"


def _traffic(advice: Advice) -> str:
    seen = f"{_count(advice.traffic)} packets" if advice.packets is not None else f"weights of {_count(advice.traffic)}"
    parts = [seen, f"the busiest handler runs {numbers.percent(advice.busiest)}"]
    if advice.unmatched:
        parts.append(f"nobody takes {numbers.percent(advice.unmatched)}")
    if advice.unclaimed_keys:
        parts.append(f"{advice.unclaimed_keys:,} key{'s' * (advice.unclaimed_keys != 1)} without a handler")
    return "; ".join(parts)


def _handlers(advice: Advice) -> str:
    order = "in the order given"
    if advice.order == "typical":
        order = "in a typical order (median of 99 shuffles"
        order += f"; all orders average {advice.any_order_mean:.1f} probes)" if advice.any_order_mean else ")"
    testing = f", {advice.residual_handlers} of them testing the payload" if advice.residual_handlers else ""
    return f"{advice.handlers:,} on {advice.keys:,} keys{testing}, {order}"


def _budget(advice: Advice) -> str:
    hostile = "hostile senders possible" if advice.adversarial else "no hostile senders"
    return f"{numbers.cost(advice.budget_ns)} ns a packet at {_rate(advice.rate)} packets/s; {hostile}"


def _rate(rate: float) -> str:
    return f"{rate / 1e6:.4g} M" if rate >= 1e6 else f"{rate:,.4g}"


def _ways(advice: Advice) -> RenderableType:
    table = blank()
    table.add_column("a packet", no_wrap=True)
    for name in ("probes", "at worst", "ns", "of budget", "ns at worst", "of budget"):
        table.add_column(name, justify="right", no_wrap=True)
    names = ("list", "list, sorted", "table")
    probings = (advice.list, advice.sorted, advice.table)
    for name, probing, usual, worst in zip(names, probings, advice.costs.usual, advice.costs.worst, strict=True):
        table.add_row(
            name,
            f"{probing.mean:.2f}",
            str(probing.worst),
            _with_interval(usual),
            numbers.percent(usual.value / advice.budget_ns),
            _with_interval(worst),
            numbers.percent(worst.value / advice.budget_ns),
        )
    return table


def _with_interval(figure: Figure) -> str:
    if figure.exact:
        return f"{numbers.cost(figure.value)}*"
    return numbers.with_half_width(figure.value, (figure.high - figure.low) / 2)


def _sorting(advice: Advice) -> str:
    if advice.captured is None:
        return "a table saves no probes, so there is nothing to capture"
    in_time = advice.costs.captured
    timed = ""
    if advice.costs.measured:
        timed = ", of the time not resolved"
        if in_time is not None:
            interval = f"[{100 * in_time.low:.0f}, {100 * in_time.high:.0f}]"
            timed = f", {numbers.percent(in_time.value)} {interval} of the time"
    return f"saves {numbers.percent(advice.captured)} of the probes that a table saves{timed}"


def _reordering(advice: Advice) -> str:
    found = advice.reordering
    if not found.overlapping_pairs:
        return "no predicates overlap: sorting changes no packet's handler"
    return (
        f"{found.overlapping_pairs:,} pairs of predicates overlap: sorted by frequency alone, {found.changed:,} of "
        f"{found.packets:,} packets would run another handler ({found.free_mean:.2f} probes); the sorted list here "
        "keeps each pair's order and changes none"
    )


def _costs(advice: Advice) -> str:
    costs = advice.costs
    if costs.measured:
        race = advice.race
        blocks = "" if race is None else f", {min(cell.blocks for cell in race.cells)} blocks"
        return (
            f"measured on {advice.machine.name}: {advice.replayed:,} packets replayed{blocks}, 95 % intervals; at "
            "worst: keys that nobody claims; loop, search, call and a handler's work together"
        )
    probe = 0.0 if costs.probe_ns is None else costs.probe_ns
    assumed = f"* assumed: {probe:g} ns a probe, the search alone"
    if costs.source.reason is None:
        return f"{assumed}; nothing was measured"
    return f"{assumed}; the race gave no verdict ({costs.source.reason})"


def _rule(advice: Advice) -> str:
    worth, captured = advice.thresholds.worth_share, advice.thresholds.captured_share
    return (
        f"{advice.recommendation.rule} of: 1 hostile senders: table if a list's worst packet costs more than the "
        f"budget or a table saves {numbers.percent(worth)} of it there, else neither; 2 a table saves less than "
        f"{numbers.percent(worth)} of the budget: neither; 3 sorting captures {numbers.percent(captured)} of that "
        "and keeps within the budget where a table does: sort; 4 else: table"
    )

"""Traps as text: the wrong answer, the check that fires on it, the right answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from . import numbers
from .tables import blank

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.results import RunResult
    from nanokata.results.records import Answer, Outcome, Trap

_STYLES: dict[Outcome, str] = {"held": "green", "failed": "bold red"}


def bite(trap: Trap) -> str:
    """Return whether the faulty configuration led astray on this machine, in a few words."""
    match trap.bite:
        case "yes":
            return "yes"
        case "injected":
            return "injected"
        case "no":
            return "not here"


def _bite_in_full(trap: Trap) -> str:
    match trap.bite:
        case "yes":
            return f"It bites here: {trap.cause}."
        case "injected":
            return f"Its cause is injected: {trap.cause}."
        case "no":
            return (
                "It doesn't bite here: the two answers' intervals meet, or lie too close together to count. The check "
                f"is for machines on which it does: {trap.cause}."
            )


def interval_of(answer: Answer) -> str:
    """Return the interval of an answer's figure, with its level."""
    return f"{numbers.interval(answer.low, answer.high)} {answer.unit}, {numbers.level(answer.level)} interval"


def fired(trap: Trap) -> str:
    """Return what the check did on the wrong configuration."""
    words = {"held": "fires", "failed": "does NOT fire", "not_applicable": "can't be examined here"}
    return words.get(trap.fires, trap.fires)


def held(trap: Trap) -> str:
    """Return what the check did on the right configuration."""
    words = {"held": "holds", "failed": "does NOT hold", "not_applicable": "can't be examined here"}
    return words.get(trap.holds, trap.holds)


def trap_renderable(trap: Trap) -> RenderableType:
    """Return a trap: wrong answer, check, right answer, and whether it bites here."""
    table = blank()
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    table.add_row(Text("wrong", style="red"), f"{_capital(trap.wrong.text)} ({interval_of(trap.wrong)})")
    table.add_row(
        Text("check", style="bold"),
        Text.assemble((f"{trap.check} {fired(trap)}", _STYLES.get(trap.fires, "")), f": {trap.wrong_detail}"),
    )
    table.add_row(Text("right", style="green"), f"{_capital(trap.right.text)} ({interval_of(trap.right)})")
    table.add_row(
        "", Text.assemble((f"{trap.check} {held(trap)}", _STYLES.get(trap.holds, "")), f": {trap.right_detail}")
    )
    return Group(table, Text(_bite_in_full(trap), style="dim"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def overview_renderable(results: Sequence[RunResult]) -> RenderableType:
    """Return all traps of a run, a row each."""
    table = blank()
    table.add_column("trap", no_wrap=True)
    table.add_column("wrong", justify="right")
    table.add_column("right", justify="right")
    table.add_column("unit", no_wrap=True)
    table.add_column("caught by", ratio=1)
    table.add_column("bites")
    for result in results:
        trap = result.trap
        if trap is None:
            continue
        sound = trap.fires == "held" and trap.holds == "held"
        caught = Text(
            trap.check if sound else f"{trap.check} {fired(trap)}, {held(trap)}", style="" if sound else "red"
        )
        table.add_row(
            result.experiment.partition(".")[2],
            numbers.cost(trap.wrong.value),
            numbers.cost(trap.right.value),
            trap.wrong.unit,
            caught,
            bite(trap),
        )
    return table

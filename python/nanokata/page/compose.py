"""What the page says, in order: the verdict first, then the phases, at last where each figure comes from."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from nanokata.render import kata as shown
from nanokata.render.instrument import card_rows
from nanokata.render.run import checks_renderable

from .blocks import Block, Code, Heading, Items, Paragraph, Picture, Table, Tone
from .convert import blocks_of
from .provenance import provenance
from .reproduce import command, commands
from .unresolved import unresolved

if TYPE_CHECKING:
    from nanokata.phases import KataRun, PhaseResult

Pictures = Mapping[int, Sequence[Picture]]
"""By a phase's number, its figures."""


def title(run: KataRun) -> str:
    """Return the page's title."""
    return f"{run.name} on {run.machine.name}"


def compose(run: KataRun, pictures: Pictures) -> list[Block]:
    """Return the whole page."""
    return [
        *_head(run),
        *_unresolved(run),
        *_card(run),
        *_reproducing(run),
        *(block for phase in run.phases for block in _phase(phase, pictures.get(phase.phase.number, ()))),
        *provenance(run),
    ]


def _head(run: KataRun) -> Iterator[Block]:
    began = datetime.datetime.fromtimestamp(run.started, datetime.UTC)
    yield Heading(1, title(run))
    yield Paragraph(run.title)
    for text in shown.said(run):
        yield Paragraph(text, strong=True)
    tones: dict[int, Tone] = {0: "good", 1: "bad"}
    yield Paragraph(shown.kata_conclusion(run), tone=tones.get(run.exit_code, "warn"))
    yield Paragraph(f"nanokata {run.version}, {began:%Y-%m-%d %H:%M} UTC", tone="dim")


def _unresolved(run: KataRun) -> Iterator[Block]:
    found = unresolved(run)
    yield Heading(2, "What was not resolved", "unresolved")
    yield Items(tuple(found)) if found else Paragraph("Every comparison that was made came to a verdict.")


def _card(run: KataRun) -> Iterator[Block]:
    yield Heading(2, "The machine", "machine")
    yield Table("", (), tuple(card_rows(run.machine)))


def _reproducing(run: KataRun) -> Iterator[Block]:
    yield Heading(2, "To run it again", "again")
    yield Paragraph(f"With nanokata {run.version}:")
    yield Code(command(run))
    if each := commands(run):
        yield Paragraph("Or an experiment by itself, with the parameters that it had here:")
        yield Code("\n".join(each))


def _phase(phase: PhaseResult, pictures: Sequence[Picture]) -> Iterator[Block]:
    yield Heading(2, f"Phase {phase.phase.number}: {phase.phase.title}", f"phase-{phase.phase.number}")
    yield Paragraph(phase.phase.question)
    tones: dict[int, Tone] = {0: "good", 1: "bad"}
    yield Paragraph(shown.conclusion(phase), tone=tones.get(phase.exit_code, "warn"))
    yield from blocks_of(shown.problems_renderable(phase))
    yield from (picture for picture in pictures if not picture.experiment)
    yield from blocks_of(shown.examined_renderable(phase))
    for result in phase.results:
        yield Heading(3, f"{result.experiment}: {result.title}")
        yield from (picture for picture in pictures if picture.experiment == result.experiment)
        # Its title is the heading.
        yield from list(blocks_of(shown.result_renderable(result)))[1:]
    yield from blocks_of(checks_renderable(shown.placed_in(phase)))

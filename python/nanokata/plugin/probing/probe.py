"""What a probe is: a question, what people say, what was seen here, and a rule from the one to the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nanokata.shown import Shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from .workshop import Workshop

__all__ = ["Finding", "Outcome", "Probe", "Probed"]

Outcome = Literal["confirmed", "refuted", "not applicable"]
Seen = Mapping[str, str]
Judged = tuple[Outcome, str]
"""What became of the folklore here, and why, in a sentence or two."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One silent failure, to be provoked."""

    name: str
    question: str
    folklore: str
    rule: str
    """The rule of the ABI that makes it impossible."""
    look: Callable[[Workshop], dict[str, str]]
    """Builds and runs it; returns what was seen, by name."""
    judge: Callable[[Seen], Judged]
    """Holds the folklore against what was seen."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one probe found on this machine.

    Attributes
    ----------
    name, question, folklore, rule : str
        Which probe, what it asks, what people say, and which rule of the ABI answers it.
    outcome : {"confirmed", "refuted", "not applicable"}
        What became of the folklore here.
    why : str
        Because of what; where the probe can't be made here, the reason.
    seen : dict of str to str
        All that was seen, as it was printed.
    """

    name: str
    question: str
    folklore: str
    rule: str
    outcome: Outcome
    why: str
    seen: dict[str, str]


class Probed(Shown):
    """What the probes found, one :class:`Finding` each; by name or by place."""

    __slots__ = ("findings",)

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings

    def __getitem__(self, name: str) -> Finding:
        """Return the finding of that name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return them as plain data."""
        return [{field: getattr(finding, field) for field in Finding.__slots__} for finding in self.findings]

    def __rich__(self) -> RenderableType:
        """Return the table that shows them."""
        from nanokata.render.probes import probes_renderable

        return probes_renderable(self)

    def __repr__(self) -> str:
        return f"<Probed: {', '.join(f'{finding.name} {finding.outcome}' for finding in self.findings)}>"

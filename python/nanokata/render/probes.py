"""What probes found, as a table; one by one in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.plugin.probing import Finding, Probed

_STYLES = {"confirmed": "green", "refuted": "yellow", "not applicable": "dim"}
_FEW = 2
"""As many are shown with all that was seen."""


def probes_renderable(probed: Probed) -> RenderableType:
    """Return the findings: folklore, what became of it here, and why."""
    in_full = len(probed.findings) <= _FEW
    return Group(*(_one(finding, in_full=in_full) for finding in probed.findings))


def _one(finding: Finding, *, in_full: bool) -> RenderableType:
    head = Text.assemble(
        (finding.name, "bold"), "  ", (finding.outcome, _STYLES[finding.outcome]), f"  “{finding.folklore}”"
    )
    parts: list[RenderableType] = [head, Padding(Text(finding.why), (0, 0, 0, 2))]
    if in_full:
        parts.insert(1, Padding(Text(finding.question, style="dim"), (0, 0, 0, 2)))
        seen = Table(box=None, show_header=False, pad_edge=False)
        seen.add_column(style="dim", no_wrap=True)
        seen.add_column(overflow="fold")
        for name, value in finding.seen.items():
            seen.add_row(name.replace("_", " "), value)
        parts.append(Padding(seen, (1, 0, 1, 2)))
    parts.append(Padding(Text(f"rule: {finding.rule}", style="dim"), (0, 0, 1, 2)))
    return Group(*parts)

"""Checks of a plugin as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from .tables import blank

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.plugin import Checked

_STYLES = {"held": "green", "failed": "bold red", "not_applicable": "dim"}
_NAMES_SHOWN = 8


def checked_renderable(checked: Checked) -> RenderableType:
    """Return the verdict, what was examined, and each check with what was seen."""
    table = blank()
    table.add_column("check", no_wrap=True)
    table.add_column("outcome", no_wrap=True)
    table.add_column("what was seen", ratio=1, overflow="fold")
    unreached = [check.name for check in checked.checks if check.detail == "not reached"]
    for check in checked.checks:
        if check.name not in unreached:
            style = _STYLES[check.outcome]
            table.add_row(check.name, Text(check.outcome.replace("_", " "), style=style), Text(check.detail))
    parts: list[RenderableType] = [_verdict(checked), *(Text(line, overflow="fold") for line in _facts(checked))]
    parts += [Text(), table]
    if unreached:
        parts.append(Text(f"not reached: {', '.join(unreached)}", style="dim"))
    return Group(*parts)


def _verdict(checked: Checked) -> Text:
    if checked.passed:
        return Text(f"{checked.path}: passed", style="bold green", overflow="fold")
    names = ", ".join(check.name for check in checked.failed)
    return Text(f"{checked.path}: failed {names}", style="bold red", overflow="fold")


def _facts(checked: Checked) -> list[str]:
    facts = []
    if checked.sha256 is not None:
        facts.append(f"sha256   {checked.sha256}")
        names = [export.name for export in checked.exports]
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        facts.append(f"exports  {', '.join(names[:_NAMES_SHOWN]) or 'nothing'}{more}")
    return facts

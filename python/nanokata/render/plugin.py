"""Plugins as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.plugin import Plugin


def plugin_renderable(plugin: Plugin) -> RenderableType:
    """Return what a loaded plugin is, and what it claims."""
    if plugin.unloaded:
        return Text(f"{plugin.path}\nunloaded")
    batch = "has process_batch" if plugin.has_batch else "no process_batch"
    stays = "stays until the process ends (thread-locals)" if plugin.stays else "closed with the last that needs it"
    facts = [
        str(plugin.path),
        f"sha256       {plugin.sha256}",
        f"struct_size  {plugin.struct_size} bytes, {batch}",
        f"abi_version  {plugin.abi_version}",
        f"library      {stays}",
    ]
    claims = Table("claim", "key", "packets", box=None, pad_edge=False, header_style="bold")
    for place, claim in enumerate(plugin.claims):
        claims.add_row(str(place), str(claim.key), "those that it takes" if claim.residual else "all of the key")
    return Group(*(Text(fact, overflow="fold") for fact in facts), Text(), claims)

"""`nanokata plugin load`: what a plugin says of itself, and what it makes of real traffic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nanokata.cli import endings

if TYPE_CHECKING:
    from nanokata.plugin import Plugin


@click.command(cls=endings.Command, short_help="Load plugins, and run them on a capture.")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--allow", type=click.Path(path_type=Path), help="Open only what is on this list, as sha256sum writes it."
)
@click.option(
    "--capture", type=click.Path(path_type=Path), help="Run them on these packets, in one table with built-ins."
)
@click.option(
    "--handlers", type=int, default=100, show_default=True, help="With --capture: built-in handlers beside them."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was loaded as JSON.")
def load(paths: tuple[Path, ...], allow: Path | None, capture: Path | None, handlers: int, as_json: bool) -> None:
    """Load plugins into this process and say what they claim.

    \b
    nanokata plugin load ./libmine.so
    nanokata plugin load ./libmine.so --allow allowed.sha256
    nanokata plugin load ./libmine.so --capture traffic.pcap

    A list is made by `sha256sum *.so > allowed.sha256`. What isn't on it is never
    opened: not even its constructors run.
    """  # noqa: D301 (click wants the sign itself)
    from nanokata import plugin
    from nanokata.cli.output import show

    loaded = [plugin.load(path, allow=allow) for path in paths]
    traffic = _on_capture(loaded, capture, handlers) if capture is not None else None
    if as_json:
        plugins = [_as_dict(one) for one in loaded]
        click.echo(json.dumps({"plugins": plugins, "capture": traffic}, indent=2))
        return
    for one in loaded:
        show(one.__rich__())
        click.echo()
    if traffic is not None:
        click.echo(f"{traffic['packets']:,} packets of {capture}, in one compact table:")
        for who in traffic["taken"]:
            click.echo(f"{who['packets']:>12,}  {who['by']}")


def _as_dict(one: Plugin) -> dict[str, Any]:
    claims = [{"key": claim.key, "residual": claim.residual} for claim in one.claims]
    said = {"struct_size": one.struct_size, "abi_version": one.abi_version, "has_batch": one.has_batch}
    return {"path": str(one.path), "sha256": one.sha256, **said, "stays": one.stays, "claims": claims}


def _on_capture(loaded: list[Plugin], capture: Path, handlers: int) -> dict[str, Any]:
    """Return who took the packets of a capture: the plugins, or built-in handlers for its most frequent other keys."""
    import numpy as np

    from nanokata import dispatch, traffic

    packets = traffic.from_capture(capture).packets
    claimed = {claim.key for one in loaded for claim in one.claims if not claim.residual}
    rest = packets[~np.isin(packets["protocol"], list(claimed))]
    handler_set = dispatch.HandlerSet.from_packets(rest if len(rest) else packets, handlers)
    for one in loaded:
        handler_set = handler_set.with_plugin(one)
    ran = dispatch.table_compact(handler_set)(packets)
    took = np.asarray(ran.handlers)
    bounds = [handler_set.built_in]
    for one in loaded:
        bounds.append(bounds[-1] + len(one.claims))
    names = [str(one.path) for one in loaded]
    taken = [{"by": "built-in handlers", "packets": int((took < bounds[0]).sum())}]
    for name, first, last in zip(names, bounds[:-1], bounds[1:], strict=True):
        taken.append({"by": name, "packets": int(((took >= first) & (took < last)).sum())})
    taken.append({"by": "nobody", "packets": int((took == dispatch.UNSUPPORTED).sum())})
    return {"packets": len(packets), "taken": taken}

"""`nanokata advise`: keep the list, sort it, or build a table; and how much code a function can reach."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nanokata.errors import InvalidArgument

from . import endings, output, progress
from .drawing import draw_and_say

if TYPE_CHECKING:
    from nanokata.advice import Advice

_MAGIC = frozenset(bytes.fromhex(text) for text in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"))
"""How captures begin: pcap in microseconds and nanoseconds, either byte order, and pcapng."""
_SECONDS, _SECONDS_QUICK = 4.0, 0.8
"""Bounds of a race by default, as the core has them."""


def _is_capture(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in _MAGIC


_FORMATS = (".png", ".pdf", ".svg")
"""Endings of a figure's file."""


def _refuse(name: str, value: str, wanted: str) -> InvalidArgument:
    return InvalidArgument(f"{name} {value}: {wanted}", name=name, value=value, wanted=wanted)


@click.command(cls=endings.Command, short_help="Keep the list, sort it, or build a table?")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option("--handlers", type=click.IntRange(1), help="Handlers for this many of the most frequent keys; else all.")
@click.option("--rate", type=float, default=3e6, show_default="3e6", help="Packets a second.")
@click.option("--adversarial", is_flag=True, help="Somebody hostile may choose the packets.")
@click.option("--residual-share", type=float, default=0.0, help="Share of handlers that test the payload besides.")
@click.option("--overlap", type=float, default=0.0, help="Share of keys with a general handler behind a specific one.")
@click.option(
    "--order",
    type=click.Choice(["typical", "given"]),
    default="typical",
    show_default=True,
    help="Whether rows stand in the order of registration.",
)
@click.option(
    "--key",
    type=click.Choice(["ip_protocol", "destination_port"]),
    default="ip_protocol",
    show_default=True,
    help="Of a capture: what a packet's key is.",
)
@click.option("--worth-share", type=float, default=0.10, show_default=True, help="Share of the budget that counts.")
@click.option("--captured-share", type=float, default=0.80, show_default=True, help="Share that sorting must capture.")
@click.option("--no-measure", is_flag=True, help="Race nothing: cost each probe at --probe-ns.")
@click.option(
    "--probe-ns", type=float, default=10.0, show_default=True, help="Cost of a probe where none was measured."
)
@click.option(
    "--body", type=click.Choice(["fat", "tiny"]), default="fat", show_default=True, help="Raced handlers' code."
)
@click.option("--pool", type=click.IntRange(1), help="Most packets that the race replays; else half of the L2.")
@click.option("--quick", is_flag=True, help="Fewer blocks and wider intervals, for a first look.")
@click.option("--seconds", type=float, help="Time bound of each of the two races.")
@click.option("--precision", type=float, help="Half-width of each ratio at which a race stops (0.0025).")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of orders and draws.")
@click.option("--cpu", type=click.IntRange(0), help="CPU to measure on.")
@click.option("--figure", type=click.Path(path_type=Path, dir_okay=False), help="Draw the costs into this file.")
@click.option(
    "--elf",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Instead: sum the code that a function of this binary reaches.",
)
@click.option("--symbol", help="Of --elf: the function.")
@click.option("--without", multiple=True, metavar="TEXT", help="Of --elf: don't enter functions named so; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def advise(
    file: Path | None,
    handlers: int | None,
    rate: float,
    adversarial: bool,
    residual_share: float,
    overlap: float,
    order: str,
    key: str,
    worth_share: float,
    captured_share: float,
    no_measure: bool,
    probe_ns: float,
    body: str,
    pool: int | None,
    quick: bool,
    seconds: float | None,
    precision: float | None,
    seed: int,
    cpu: int | None,
    figure: Path | None,
    elf: Path | None,
    symbol: str | None,
    without: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say what to do about a list of handlers, given the traffic in FILE.

    FILE is a table of counts (CSV with the columns key,count or handler,count) or a capture (pcap, pcapng).

    With --elf and --symbol instead: sum the code that a function can reach by direct calls, against the L1i.
    """
    if elf is not None or symbol is not None:
        return _reach(elf, symbol, without, file, as_json=as_json)
    if file is None:
        raise _refuse("FILE", "missing", "wanted a file of counts or a capture, or --elf FILE --symbol NAME")
    if without:
        raise _refuse("--without", without[0], "belongs to --elf; leave it out")
    if figure is not None and figure.suffix.lower() not in _FORMATS:
        raise _refuse("--figure", str(figure), f"wanted a name that ends in {', '.join(_FORMATS)}")
    import nanokata

    at_most = 0.0 if no_measure else 1.0 + 2 * (seconds or (_SECONDS_QUICK if quick else _SECONDS))
    # Options and file are refused before anything takes time.
    traffic = {"packets": file} if _is_capture(file) else {"weights": file}
    with progress.shown("advise", at_most) as update:
        found: Advice = nanokata.advise(
            **traffic,
            handlers=handlers,
            order=order,
            residual_share=residual_share,
            overlap=overlap,
            rate=rate,
            adversarial=adversarial,
            worth_share=worth_share,
            captured_share=captured_share,
            probe_ns=probe_ns,
            measure=not no_measure,
            body=body,
            pool=pool,
            key=key,
            quick=quick,
            seconds=seconds,
            precision=precision,
            seed=seed,
            cpu=cpu,
            progress=update,
        )
    if as_json:
        click.echo(found.to_json(indent=2))
    else:
        output.show(found)
    if figure is not None:
        draw_and_say(found.plot, figure, err=as_json)
    return 0


def _reach(elf: Path | None, symbol: str | None, without: tuple[str, ...], file: Path | None, *, as_json: bool) -> int:
    import nanokata

    if elf is None:
        raise _refuse("--symbol", str(symbol), "belongs to --elf FILE")
    if symbol is None:
        raise _refuse("--elf", str(elf), "wants --symbol NAME, the function to start from")
    if file is not None:
        raise _refuse("FILE", str(file), "is traffic, which --elf doesn't take; leave it out")
    found = nanokata.binary.reach(elf, symbol, without=without)
    if as_json:
        click.echo(found.to_json(indent=2))
    else:
        output.show(found)
    return 0

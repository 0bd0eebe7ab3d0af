"""`nanokata simulate`: exact counts of a simulated machine, by valgrind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import endings, output, progress
from .drawing import draw_and_say
from .run import FIGURES, pairs_of, settings_of


@click.command(cls=endings.Command, short_help="Count what an experiment's arms do, under valgrind.")
@click.argument("experiment")
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter; commas, or the option again, give several values: every combination is simulated.",
)
@click.option("--traffic", metavar="FILE|NAME", help="Replay a capture's packets, or a named distribution.")
@click.option(
    "--preset",
    metavar="NAME",
    help="`causes` of dispatch.mechanism, `profile` of dispatch.selection, or `original`, the published kata's pool.",
)
@click.option("--arm", "arms", multiple=True, metavar="NAME", help="Simulate this arm; repeatable. All by default.")
@click.option("--passes", type=click.IntRange(1, 1000), default=1, show_default=True, help="Counted passes.")
@click.option("--runs", type=click.IntRange(1, 16), default=2, show_default=True, help="Processes an arm.")
@click.option("--quick", is_flag=True, help="One process an arm: nothing shows that counts repeat.")
@click.option("--timeout", type=float, default=120.0, show_default=True, help="Seconds that an arm may take.")
@click.option("--jobs", type=click.IntRange(1), help="Processes at once; as many as CPUs by default.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of input and placement.")
@click.option(
    "--out",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=FIGURES,
    show_default=True,
    help="Where the figures go.",
)
@click.option("--no-figure", is_flag=True, help="Draw no figure.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def simulate(
    experiment: str,
    pairs: tuple[str, ...],
    traffic: str | None,
    preset: str | None,
    arms: tuple[str, ...],
    passes: int,
    runs: int,
    quick: bool,
    timeout: float,
    jobs: int | None,
    seed: int,
    directory: Path,
    no_figure: bool,
    as_json: bool,
) -> int:
    """Count what the arms of EXPERIMENT do on a simulated machine, exactly: instructions, cache misses, mispredictions.

    No times, no privileges, and the same counts on a busy machine. Needs valgrind. `nanokata simulate
    dispatch.mechanism --preset causes` shows the cost of fetching code and that of guessing targets apart; `nanokata
    simulate dispatch.selection --preset profile` what a profile of the scan and of the table blames.
    """
    from nanokata.catalogue import find
    from nanokata.simulation import expected_seconds
    from nanokata.simulation import simulate as run_simulation

    known = find(experiment)
    settings = settings_of(known, pairs_of(pairs), traffic, several=True)
    chosen: dict[str, Any] = {"preset": preset, "arms": arms or None, "runs": 1 if quick else runs, "jobs": jobs}
    with progress.shown(known.id, expected_seconds(known.id, **chosen, **settings)) as update:
        result = run_simulation(
            known.id, passes=passes, timeout=timeout, seed=seed, progress=update, **chosen, **settings
        )
    if as_json:
        click.echo(result.to_json(indent=2))
    else:
        output.show(result)
    if not no_figure:
        draw_and_say(result.plot, directory / f"{known.id}.simulated.png", err=as_json)
        draw_and_say(result.profile.plot, directory / f"{known.id}.profile.png", err=as_json)
    return result.exit_code

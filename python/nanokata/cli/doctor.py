"""`nanokata doctor`: whether this machine can tell arms apart, and how often it errs."""

from __future__ import annotations

import click

from . import endings, output, progress

FIT_HALF_A_MINUTE = 0
"""What `--trials` without a number stands for: as many as fit 30 s."""
SECONDS_A_TRIAL = 2.0
KINDS_OF_BODY = 2
"""Trials run with fat bodies and with tiny ones."""
_HALF_A_MINUTE = 30.0


@click.command(cls=endings.Command, short_help="Examine the instrument on this machine.")
@click.option(
    "--trials",
    type=click.IntRange(0, 100_000),
    is_flag=False,
    flag_value=FIT_HALF_A_MINUTE,
    metavar="[N]",
    help="Race an arm with itself and with a little extra work N times a body, 2 s each; without N, what fits 30 s.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of inputs and placements.")
@click.option("--cpu", type=click.IntRange(0), help="CPU to measure on.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(trials: int | None, seed: int, cpu: int | None, as_json: bool) -> int:
    """Examine the instrument: clock, floor, noise, and how often verdicts made here are wrong.

    What it finds is kept for this machine and build, and named in one line by every later run.
    """
    import nanokata
    from nanokata.instrument import doctor_seconds

    if trials == FIT_HALF_A_MINUTE:
        trials = int(_HALF_A_MINUTE / SECONDS_A_TRIAL / KINDS_OF_BODY)
    with progress.shown("doctor", doctor_seconds(trials, SECONDS_A_TRIAL)) as update:
        found = nanokata.doctor(trials=trials, trial_seconds=SECONDS_A_TRIAL, seed=seed, cpu=cpu, progress=update)
    if as_json:
        click.echo(found.to_json(indent=2))
    else:
        output.show(found)
    return found.exit_code

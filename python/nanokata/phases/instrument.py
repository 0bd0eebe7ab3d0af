"""Phase 0: the instrument. The doctor's short form, and the bodies that are to be measured."""

from __future__ import annotations

from nanokata.instrument import doctor, doctor_seconds
from nanokata.results.records import Check

from .bodies import distinct_check
from .plan import Examination, Setting
from .result import PhaseResult

TRIAL_SECONDS, QUICK_TRIAL_SECONDS = 1.25, 0.4
"""Time of each of the four races of the doctor's short form: with two kinds of bodies, itself and its code layouts."""


def expected_seconds(*, quick: bool) -> float:
    """Return about how long the phase takes."""
    return doctor_seconds(None, QUICK_TRIAL_SECONDS if quick else TRIAL_SECONDS)


def examine(setting: Setting, _finished: tuple[PhaseResult, ...]) -> Examination:
    """Ask the doctor, and look whether handlers' bodies are distinct."""
    found = doctor(
        trial_seconds=QUICK_TRIAL_SECONDS if setting.quick else TRIAL_SECONDS,
        seed=setting.seed,
        cpu=setting.cpu,
        progress=setting.progress,
    )
    checks = tuple(Check.from_json(check) for check in found["checks"])
    return Examination(checks=(*checks, distinct_check()), doctor=found)

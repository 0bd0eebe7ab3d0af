"""Katas like the real one, and runs of them, with whatever figures a test wants."""

from __future__ import annotations

from typing import Any

import synthetic

from nanokata.instrument import Doctor, Machine
from nanokata.phases import Examination, Job, Kata, KataRun, Phase, PhaseResult, Problem, verdict
from nanokata.results import RunResult
from nanokata.results.records import Check, Fact

FINDING = {"finding:fat:100": (500.0, 490.0, 510.0), "finding:fat:10": (20.0, 19.0, 21.0)}
CALLING = {"calling:hot": (0.1, -0.1, 0.3), "calling:uniform": (8.0, 7.0, 9.0)}
SHARE = {"captured:skewed:3": (0.5, 0.4, 0.6), "captured:skewed": (0.868, 0.47, 0.93)}


def contrasts(values: dict[str, tuple[float, float, float]], unit: str = "ns/packet", **changes: Any):
    return [
        {**synthetic.contrast(name, f"what {name} is", value), "low": low, "high": high, "unit": unit, **changes}
        for name, (value, low, high) in values.items()
    ]


def fact(name: str, text: str, value: float | None = None, unit: str = "", origin: str = "computed") -> dict[str, Any]:
    return {"name": name, "text": text, "value": value, "unit": unit, "origin": origin}


def result(experiment: str, cells: list[dict[str, Any]] | None = None, **changes: Any) -> RunResult:
    made = [synthetic.selection_cell(n) for n in (10, 100)] if cells is None else cells
    return RunResult(synthetic.document(synthetic.report(experiment, made, **changes)))


def selection(**changes: Any) -> RunResult:
    return result("dispatch.selection", **{"contrasts": contrasts(FINDING), **changes})


def mechanism(**changes: Any) -> RunResult:
    cells = [
        synthetic.cell(
            [synthetic.arm("direct", 12.0), synthetic.arm("dyn_trait", cost, baseline=12.0, against="direct")],
            {"handlers": 100, "body": "tiny", "traffic": law},
        )
        for law, cost in (("hot", 12.1), ("uniform", 20.0))
    ]
    return result("dispatch.mechanism", cells, **{"contrasts": contrasts(CALLING), **changes})


def distribution(**changes: Any) -> RunResult:
    return result("dispatch.distribution", **{"contrasts": contrasts(SHARE, ""), **changes})


KATA = Kata(
    name="paper",
    title="A kata on paper",
    phases=(
        Phase(0, "The instrument", "Is it fit?", examine=lambda *_: Examination(), seconds=(2.0, 1.0)),
        Phase(1, "Finding", "What does finding cost?", jobs=(Job("dispatch.selection", {"handlers": [10, 100]}),)),
        Phase(
            2,
            "Calling",
            "What does calling cost?",
            jobs=(
                Job("dispatch.mechanism", {"body": "fat"}, 3.0, {"body": "tiny"}, 0.25),
                Job("cache.levels", {"working_set": [4096]}, companions=True),
            ),
        ),
    ),
    verdict=(verdict.finding_and_calling, verdict.mechanisms, verdict.sorting_and_bound),
)


def examined(**changes: Any) -> Examination:
    checks = (Check("agrees:scan", "held", "the same"), Check("sabotage:x", "held", "refused"))
    facts = (Fact("keys", "93 keys", 93.0, "keys", "counted"),)
    return Examination(**{"checks": checks, "facts": facts, "doctor": Doctor(synthetic.doctor()), **changes})


def run(*results: RunResult, kata: Kata = KATA, **changes: Any) -> KataRun:
    """Return a run in which phase 0 examined, phase 1 found, and phase 2 has all other results."""
    found = results or (selection(), mechanism(), distribution())
    phases = (
        PhaseResult(kata.phases[0], examined=changes.pop("examined", examined()), seconds=3.0),
        PhaseResult(kata.phases[1], found[:1], seconds=10.0),
        PhaseResult(kata.phases[2], found[1:], problems=changes.pop("problems", ()), seconds=5.0),
    )
    given = {
        "machine": Machine({"id": "zen4", "cpu": "AMD EPYC", "caches": []}),
        "options": {"seed": 7},
        "version": "0.1.0",
        "started": 1_760_000_000.0,
        **changes,
    }
    return KataRun(kata, given.pop("phases", phases), **given)


def problem(what: str, reason: str, exit_code: int = 3) -> Problem:
    return Problem(what, reason, exit_code)


def nk_doctor(**changes: Any) -> Doctor:
    return Doctor(synthetic.doctor(**changes))

"""Results: typed records of what was measured, and what can be made of them."""

from .records import (
    Answer,
    ArmResult,
    Ceiling,
    CellResult,
    Check,
    Contrast,
    Counter,
    Distribution,
    Disturbances,
    Fact,
    Probes,
    Report,
    Stretch,
    Tail,
    Trap,
)
from .run import RaceResult, RunResult
from .simulation import SimulationResult

__all__ = [
    "Answer",
    "ArmResult",
    "Ceiling",
    "CellResult",
    "Check",
    "Contrast",
    "Counter",
    "Distribution",
    "Disturbances",
    "Fact",
    "Probes",
    "RaceResult",
    "Report",
    "RunResult",
    "SimulationResult",
    "Stretch",
    "Tail",
    "Trap",
]

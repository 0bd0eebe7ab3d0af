"""Results: typed records of what was measured, and what can be made of them."""

from .records import (
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
)
from .run import RaceResult, RunResult

__all__ = [
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
    "Stretch",
    "Tail",
]

"""Which of a race's parameters say something about it: a law's own, a capture's own, and those of every race."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nanokata.results.records import CellResult, Value
from nanokata.results.simulation import SimulatedCell

_OF_LAWS: Mapping[str, frozenset[str]] = {
    "uniform": frozenset(),
    "zipf": frozenset({"exponent"}),
    "skewed": frozenset({"share", "top"}),
    "worst": frozenset(),
    "hot": frozenset(),
    "periodic": frozenset({"period"}),
    "zipf_rigged": frozenset({"exponent"}),
    "skewed_rigged": frozenset({"share", "top"}),
}
_OF_ANY_LAW = frozenset({"unmatched", "residual_share", "shuffle"})
_OF_A_CAPTURE = frozenset({"key"})
_OF_SOME_TRAFFIC = frozenset().union(*_OF_LAWS.values(), _OF_ANY_LAW, _OF_A_CAPTURE)


def applies(name: str, parameters: Mapping[str, Value]) -> bool:
    """Whether the parameter `name` has a part in a race with these parameters."""
    if "traffic" not in parameters or name not in _OF_SOME_TRAFFIC:
        return True
    own = _OF_LAWS.get(str(parameters["traffic"]))
    return name in _OF_A_CAPTURE if own is None else name in own | _OF_ANY_LAW


def applying(cells: Iterable[CellResult | SimulatedCell]) -> tuple[str, ...]:
    """Return the parameters that have a part in any of the cells, in the cells' order."""
    return tuple(dict.fromkeys(name for cell in cells for name in cell.parameters if applies(name, cell.parameters)))

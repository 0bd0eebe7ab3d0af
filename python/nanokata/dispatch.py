"""Dispatch: handlers with machine code of their own, ways of finding one, and ways of calling it.

Every arm is callable: ``arm(packets, cpu=None)`` makes one untimed pass on a thread of its own with the GIL released,
pinned to `cpu` if given, and returns a :class:`Pass`: the checksum, who ran, the probes, and where it ran. Time comes
only from a race: pass arms to :func:`nanokata.race`.

All selection arms take the first match. On overlapping predicates an arm that doesn't keep the registration order
(`scan_ordered`, `scan_transpose`, `scan_move_to_front`) may run another handler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from nanokata import _core, arguments
from nanokata._core import Arm, HandlerSet, Pass, Residual
from nanokata.errors import WrongArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MECHANISMS",
    "SELECTIONS",
    "UNSUPPORTED",
    "Arm",
    "HandlerSet",
    "Pass",
    "Residual",
    "changed_handlers",
    "direct",
    "distinct_bodies",
    "dyn_trait",
    "expected_probes",
    "frequency_order",
    "hash_map",
    "null",
    "scan",
    "scan_keys",
    "scan_move_to_front",
    "scan_ordered",
    "scan_transpose",
    "table_compact",
    "table_direct16",
]

UNSUPPORTED = 0xFFFF
"""What :attr:`Pass.handlers` holds where no handler matched."""


def scan(handlers: HandlerSet) -> Arm:
    """Ask each handler in registration order, by an indirect call of ``matches``: the brief's loop."""
    return _core.selection("scan", handlers)


def scan_keys(handlers: HandlerSet) -> Arm:
    """Compare each key of a contiguous array; ask a handler only where its key hits."""
    return _core.selection("scan_keys", handlers)


def scan_ordered(handlers: HandlerSet, order: Sequence[int] | NDArray[np.integer] | None = None) -> Arm:
    """Scan over the handlers sorted by how often each runs on the very input; or in `order`, handler numbers."""
    if order is None:
        return _core.selection("scan_ordered", handlers)
    return _core.scan_ordered(handlers, _numbers(order))


def scan_transpose(handlers: HandlerSet) -> Arm:
    """Scan; a handler that is found swaps with the one before it."""
    return _core.selection("scan_transpose", handlers)


def scan_move_to_front(handlers: HandlerSet) -> Arm:
    """Scan; a handler that is found moves to the front."""
    return _core.selection("scan_move_to_front", handlers)


def table_direct16(handlers: HandlerSet, *, residual_bound: SupportsIndex | None = None) -> Arm:
    """Index 65,536 slots by the key (1 MiB); test residual candidates only.

    More than `residual_bound` candidates for one key raise ``ResidualBoundExceeded``.
    """
    return _core.selection("table_direct16", handlers, residual_bound=_bound(residual_bound))


def table_compact(handlers: HandlerSet, *, residual_bound: SupportsIndex | None = None) -> Arm:
    """Index 1,024 slots or more by the key's low bits, and verify the key.

    More than `residual_bound` candidates for one key raise ``ResidualBoundExceeded``.
    """
    return _core.selection("table_compact", handlers, residual_bound=_bound(residual_bound))


def hash_map(handlers: HandlerSet, *, residual_bound: SupportsIndex | None = None) -> Arm:
    """Look the key up in the standard library's hash map with its default hasher.

    More than `residual_bound` candidates for one key raise ``ResidualBoundExceeded``.
    """
    return _core.selection("hash_map", handlers, residual_bound=_bound(residual_bound))


def direct(handlers: HandlerSet) -> Arm:
    """Select by the compact table, then run handler 0's body by a direct call, whatever was selected."""
    return _core.mechanism("direct", handlers)


def dyn_trait(handlers: HandlerSet) -> Arm:
    """Select by the compact table, then call the selected handler through its vtable."""
    return _core.mechanism("dyn_trait", handlers)


def null(handlers: HandlerSet) -> Arm:
    """Run the loop and the fold alone, no selection and no call: the harness's own cost."""
    return _core.null(handlers)


SELECTIONS = (
    scan,
    scan_keys,
    scan_ordered,
    scan_transpose,
    scan_move_to_front,
    table_direct16,
    table_compact,
    hash_map,
)
"""Every way of finding a handler."""
MECHANISMS = (direct, dyn_trait)
"""Every way of calling one."""


def frequency_order(
    handlers: HandlerSet, packets: NDArray[np.void], *, cpu: SupportsIndex | None = None
) -> NDArray[np.uint16]:
    """Return the handlers by how often each runs on `packets`, most often first: handler numbers."""
    return _core.frequency_order(handlers, packets, cpu=arguments.cpu_number(cpu))


def distinct_bodies(handlers: HandlerSet) -> int:
    """Return how many different results the handlers' bodies give on the same packets.

    As many as there are handlers, unless bodies were merged, by the compiler, the linker or on purpose
    (``body="identical"``). Bodies are asked by what they do: addresses prove nothing.
    """
    return _core.distinct_bodies(handlers)[0]


def expected_probes(
    arm: Arm, weights: Sequence[float] | NDArray[np.floating] | None = None, *, unmatched: float = 0.0
) -> float | None:
    """Return the probes a packet that a selection arm is to be expected to take, by exact enumeration.

    Parameters
    ----------
    arm : Arm
        A way of finding a handler; ``scan_ordered`` counts in its own set's order, so give it a set reordered
        beforehand.
    weights : sequence of float, optional
        How often each handler's key comes, by handler number; all the same if left out. Payloads and flows are taken as
        uniform.
    unmatched : float
        Share of packets whose key nobody claims.

    Returns
    -------
    float or None
        ``None`` for arms that organise themselves, and where enumeration is out of reach.
    """
    shares = [1.0] * len(arm.handlers) if weights is None else [arguments.real("weights", weight) for weight in weights]
    return _core.expected_probes(arm.name, arm.handlers, shares, arguments.real("unmatched", unmatched))


def changed_handlers(
    handlers: HandlerSet,
    packets: NDArray[np.void],
    a: Sequence[int] | NDArray[np.integer],
    b: Sequence[int] | NDArray[np.integer],
    *,
    cpu: SupportsIndex | None = None,
) -> int:
    """Return how many packets run another handler in registration order `a` than in order `b`.

    Any above zero says that order is behaviour: predicates overlap, and sorting the list changes what a service does.
    """
    return _core.changed_handlers(handlers, packets, _numbers(a), _numbers(b), cpu=arguments.cpu_number(cpu))


def _numbers(order: Sequence[int] | NDArray[np.integer]) -> list[int]:
    if isinstance(order, np.ma.MaskedArray):
        wanted, seen = "a plain ndarray or a sequence", "a masked array, whose mask would be ignored"
        raise WrongArray(f"order: wanted {wanted}; got {seen}", wanted=wanted, given=seen)
    if isinstance(order, (str, bytes)) or not np.iterable(order):
        raise arguments.wrong_type("order", order, "wanted handler numbers")
    return [arguments.whole("order", item) for item in order]


def _residual(kind: str, numbers: Sequence[int]) -> Residual:
    """Make a pickled predicate again."""
    make: Callable[..., Residual] = getattr(Residual, kind)
    return make(*numbers)


def _handler_set(keys: Sequence[int], residuals: Sequence[Residual], body: str, order: Sequence[int]) -> HandlerSet:
    """Make a pickled set again."""
    return HandlerSet.from_keys(keys, residuals, body=body).reordered(order)


def _bound(residual_bound: SupportsIndex | None) -> int | None:
    return arguments.optional_whole("residual_bound", residual_bound)

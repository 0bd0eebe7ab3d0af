"""Dispatch: handlers with machine code of their own, ways of finding one, and ways of calling it.

Every arm is callable: ``arm(packets, cpu=None)`` makes one untimed pass on a thread of its own with the GIL released,
pinned to `cpu` if given, and returns a :class:`Pass`: the checksum, who ran, the probes, and where it ran. Time comes
only from a race: pass arms to :func:`nanokata.race`.

All selection arms take the first match. On overlapping predicates an arm that doesn't keep the registration order
(`scan_ordered`, `scan_transpose`, `scan_move_to_front`) may run another handler.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from nanokata import _core, arguments
from nanokata._core import Arm, HandlerSet, Pass, Residual
from nanokata.errors import WrongArray
from nanokata.results.records import Record

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MECHANISMS",
    "PROPOSALS",
    "SELECTIONS",
    "UNSUPPORTED",
    "Arm",
    "ArmCode",
    "HandlerSet",
    "Pass",
    "Residual",
    "changed_handlers",
    "code",
    "direct",
    "distinct_bodies",
    "dyn_trait",
    "enum_match",
    "erased",
    "expected_probes",
    "frequency_order",
    "hash_map",
    "null",
    "scan",
    "scan_enum",
    "scan_enum_inlined",
    "scan_erased",
    "scan_keys",
    "scan_move_to_front",
    "scan_ordered",
    "scan_static",
    "scan_static_keys",
    "scan_transpose",
    "static_inlined",
    "static_match",
    "table_compact",
    "table_direct16",
    "thin",
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
    """Select by the compact table, then call the selected handler through its vtable: Rust's fat pointer."""
    return _core.mechanism("dyn_trait", handlers)


def thin(handlers: HandlerSet) -> Arm:
    """Select by the compact table, then call through a vtable whose address the object carries, as in C++."""
    return _core.mechanism("thin", handlers)


def erased(handlers: HandlerSet) -> Arm:
    """Select by the compact table, then call the function whose address lies beside the object's."""
    return _core.mechanism("erased", handlers)


def enum_match(handlers: HandlerSet) -> Arm:
    """Select by the compact table, then match over a closed sum: a jump table to the bodies that all arms call."""
    return _core.mechanism("enum_match", handlers)


def static_match(handlers: HandlerSet) -> Arm:
    """Match the packet's key straight to the same bodies: no table, no objects.

    Raises ``InvalidArgument`` for handlers that weren't known when it was compiled: other than 10, 25, 50, 100 or
    1,024 of them, of the kata's scheme with a residual share of 0.10, in its own order.
    """
    return _core.mechanism("static_match", handlers)


def static_inlined(handlers: HandlerSet) -> Arm:
    """Match the packet's key to bodies that the compiler may inline and merge; see :func:`code` for what it did.

    Raises ``InvalidArgument`` as :func:`static_match` does, and for 1,024 handlers.
    """
    return _core.mechanism("static_inlined", handlers)


def scan_erased(handlers: HandlerSet) -> Arm:
    """Run the brief's loop with both calls through functions whose addresses lie beside the object's."""
    return _core.proposal("scan_erased", handlers)


def scan_enum(handlers: HandlerSet) -> Arm:
    """Run the brief's loop over a closed sum by value, with both calls through jump tables."""
    return _core.proposal("scan_enum", handlers)


def scan_enum_inlined(handlers: HandlerSet) -> Arm:
    """Do what `scan_enum` does, with a ``matches`` that the compiler may inline and merge."""
    return _core.proposal("scan_enum_inlined", handlers)


def scan_static(handlers: HandlerSet) -> Arm:
    """Run the brief's loop written out over known types: ``matches`` inlined, bodies called by name.

    Raises ``InvalidArgument`` for other than 10, 25, 50 or 100 handlers, or where they are reordered.
    """
    return _core.proposal("scan_static", handlers)


def scan_static_keys(handlers: HandlerSet) -> Arm:
    """Do what `scan_static` does, with keys that are constants too.

    Raises ``InvalidArgument`` as :func:`static_match` does, and for 1,024 handlers.
    """
    return _core.proposal("scan_static_keys", handlers)


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
MECHANISMS = (direct, dyn_trait, thin, erased, enum_match, static_match, static_inlined)
"""Every way of calling one."""
PROPOSALS = (scan_erased, scan_enum, scan_enum_inlined, scan_static, scan_static_keys)
"""Every way of making the calls of the brief's loop, besides `scan` itself."""


@dataclass(frozen=True, slots=True)
class ArmCode(Record):
    """What the compiler made of an arm, read from this package's own machine code.

    `loop_bytes` is one of `loop_copies` copies of its loop, `outside_bytes` its functions outside, `table_bytes` its
    `jump_tables`, of which `loop_jump_tables` lie in the loop; `indirect_calls` are the loop's. `bodies` are the
    different handler bodies that it can reach, `body_bytes` their code, set apart (0 where they lie inside the arm).
    `loads` are those that must finish one after the other between the packet's key and the address of the body; `None`
    where an arm asks several handlers.
    """

    arm: str
    handlers: int
    body: str
    loop_bytes: int
    loop_copies: int
    outside_bytes: int
    table_bytes: int
    jump_tables: int
    loop_jump_tables: int
    indirect_calls: int
    bodies: int
    body_bytes: int
    loads: int | None

    @property
    def bytes(self) -> int:
        """Loop, functions and jump tables: what this way of dispatching adds to the handlers."""
        return self.loop_bytes + self.outside_bytes + self.table_bytes


def code(handlers: HandlerSet) -> tuple[ArmCode, ...]:
    """Look at the machine code of every mechanism and proposal that takes these handlers.

    Sizes are those of symbols; bodies and loads come from the decoded instructions.

    Raises
    ------
    BinaryError
        Where this package's file has no symbols, or isn't for Linux on x86-64.
    """
    return tuple(ArmCode.from_json(found) for found in json.loads(_core.arm_code(handlers)))


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

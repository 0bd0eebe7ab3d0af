"""Phase 1: what must hold before any time is worth reading. Counted, never timed, so that it repeats exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from nanokata import dispatch, traffic
from nanokata.dispatch import MECHANISMS, SELECTIONS, Arm, HandlerSet, Residual
from nanokata.errors import ChecksumMismatch
from nanokata.results.records import Check, Fact

from .bodies import HANDLERS, distinct_check
from .plan import Examination, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .result import PhaseResult

PACKETS, QUICK_PACKETS = 16_384, 4_096
"""Packets of a pool."""
KEEP_ORDER = tuple(
    make
    for make in SELECTIONS
    if make not in {dispatch.scan_ordered, dispatch.scan_transpose, dispatch.scan_move_to_front}
)
"""Ways of finding a handler that take the first match in the order of registration."""
PAYLOAD_BYTES = 256
"""Values of the payload's byte that residual predicates read."""
DIRECT16_LEAST = 1 << 20
"""65,536 slots of 16 bytes."""
COMPACT_LEAST = 24 << 10
"""1,024 slots of 24 bytes."""


def examine(setting: Setting, _finished: tuple[PhaseResult, ...]) -> Examination:
    """Run every invariant in turn."""
    makers: tuple[Callable[[Setting], Iterator[Check]], ...] = (_agreement, _order, _probes, _sizes, _bodies, _sabotage)
    checks: list[Check] = []
    for at, make in enumerate(makers):
        setting.progress("invariants", at / len(makers))
        checks += make(setting)
    return Examination(checks=tuple(checks), facts=tuple(_counted()))


def _check(name: str, held: bool, detail: str) -> Check:
    return Check(name, "held" if held else "failed", detail)


def _pools(handlers: HandlerSet, setting: Setting) -> dict[str, NDArray[np.void]]:
    """Return packets of every kind that arms may differ on: spread, skewed, and nobody's."""
    count = QUICK_PACKETS if setting.quick else PACKETS
    return {
        "uniform": traffic.uniform(count, handlers, seed=setting.seed),
        "zipf": traffic.zipf(count, handlers, seed=setting.seed),
        "nobody's": traffic.uniform(count, handlers, seed=setting.seed, unmatched=1.0),
    }


def _agreement(setting: Setting) -> Iterator[Check]:
    """Every arm finds what the brief's loop finds, packet by packet, and folds the same results."""
    handlers = HandlerSet(HANDLERS, seed=setting.seed)
    pools = _pools(handlers, setting)
    reference = {name: dispatch.scan(handlers)(packets, cpu=setting.cpu) for name, packets in pools.items()}
    makers = [*SELECTIONS, *(make for make in MECHANISMS if make is not dispatch.direct)]
    for make in makers:
        differs = [
            name
            for name, packets in pools.items()
            if not _same(make(handlers)(packets, cpu=setting.cpu), reference[name])
        ]
        total = sum(len(packets) for packets in pools.values())
        where = f"differs on {', '.join(differs)}" if differs else f"the same results on all {total:,} packets"
        yield _check(f"agrees:{make.__name__}", not differs, f"{where}: uniform, Zipf and unmatched")


def _same(got: dispatch.Pass, wanted: dispatch.Pass) -> bool:
    if got.handlers is None or wanted.handlers is None:
        return got.checksum == wanted.checksum
    return got.checksum == wanted.checksum and np.array_equal(got.handlers, wanted.handlers)


def _overlapping() -> tuple[HandlerSet, NDArray[np.void]]:
    """Return two handlers with one key, `a` for odd payloads and `b` for any, and packets that both match."""
    handlers = HandlerSet.from_keys([5, 5], [Residual.mask(0, 1, 1), Residual.none()], body="tiny")
    packets = np.zeros(64, dtype=traffic.PACKET)
    packets["protocol"] = 5
    packets["payload"][:, 0] = 1
    return handlers, packets


def _order(setting: Setting) -> Iterator[Check]:
    """Where two predicates hold, the one registered first wins, whichever that is."""
    handlers, packets = _overlapping()
    for make in KEEP_ORDER:
        first = make(handlers)(packets, cpu=setting.cpu).handlers
        reversed_ = make(handlers.reordered([1, 0]))(packets, cpu=setting.cpu).handlers
        ran = [_who(first), _who(reversed_)]
        yield _check(
            f"order:{make.__name__}",
            ran == ["a", "b"],
            f"on packets that both match, registered a, b: {ran[0]} runs; registered b, a: {ran[1]}",
        )


def _who(ran: NDArray[np.uint16] | None) -> str:
    seen = [] if ran is None else sorted(set(ran.tolist()))
    return {(0,): "a", (1,): "b"}.get(tuple(seen), f"handlers {seen}")


def every_packet(handlers: HandlerSet) -> NDArray[np.void]:
    """Return each handler's key with each value of the payload byte that predicates read, once."""
    packets = np.zeros(len(handlers) * PAYLOAD_BYTES, dtype=traffic.PACKET)
    packets["protocol"] = np.repeat(handlers.keys, PAYLOAD_BYTES)
    packets["payload"][:, 0] = np.tile(np.arange(PAYLOAD_BYTES, dtype=np.uint8), len(handlers))
    return packets


def counted_probes(handlers: HandlerSet, cpu: int | None) -> Iterator[tuple[str, float, float]]:
    """Yield each arm's probes a packet over :func:`every_packet`, counted and by enumeration."""
    packets = every_packet(handlers)
    for make in SELECTIONS:
        arm = make(handlers)
        expected = dispatch.expected_probes(arm)
        if expected is None or make is dispatch.scan_ordered:
            continue
        probes = arm(packets, cpu=cpu).probes
        if probes is not None:
            yield arm.name, float(probes.mean()), expected


def _probes(setting: Setting) -> Iterator[Check]:
    """Probes are counted; over every possible packet they come to what enumeration says, not nearly but exactly."""
    for name, counted, expected in counted_probes(HandlerSet(HANDLERS, body="tiny", seed=setting.seed), setting.cpu):
        held = bool(np.isclose(counted, expected, rtol=1e-12, atol=0))
        words = f"{counted:.4f} a packet counted over every packet that there can be, {expected:.4f} by enumeration"
        yield _check(f"probes:{name}", held, words)


def _sizes(setting: Setting) -> Iterator[Check]:
    """See that the tables are as large as their layout says."""
    handlers = HandlerSet(HANDLERS, body="tiny", seed=setting.seed)
    for make, least in ((dispatch.table_direct16, DIRECT16_LEAST), (dispatch.table_compact, COMPACT_LEAST)):
        size = make(handlers).footprint_bytes or 0
        words = f"{size >> 10:,} KiB for {HANDLERS} handlers, {least >> 10:,} KiB of it slots"
        yield _check(f"footprint:{make.__name__}", least <= size < 2 * least, words)


def _bodies(_setting: Setting) -> Iterator[Check]:
    yield distinct_check()


def broken_arms(handlers: HandlerSet) -> dict[str, Arm]:
    """Return tables that are wrong, each in its way, by what is wrong with it."""
    keys, body = handlers.keys, handlers.body
    last_two = [*range(len(handlers) - 2), len(handlers) - 1, len(handlers) - 2]
    return {
        "forgets residual tests": dispatch.table_compact(HandlerSet.from_keys(keys, body=body)),
        "swaps two keys": dispatch.table_compact(HandlerSet.from_keys(keys[last_two], handlers.residuals, body=body)),
        "loses a handler": dispatch.table_compact(
            HandlerSet.from_keys(keys[:-1], handlers.residuals[:-1], body=body),
        ),
        "runs other bodies": dispatch.table_compact(
            HandlerSet.from_keys(keys, handlers.residuals, body="tiny" if body == "fat" else "fat"),
        ),
    }


def _sabotage(setting: Setting) -> Iterator[Check]:
    """See that a wrong arm is refused before a single figure of it is published."""
    import nanokata

    handlers = HandlerSet(HANDLERS, seed=setting.seed)
    packets = _pools(handlers, setting)["uniform"]
    sound = dispatch.scan(handlers)
    for fault, arm in broken_arms(handlers).items():
        try:
            nanokata.race({"scan": sound, "broken": arm}, packets, quick=True, cpu=setting.cpu, seed=setting.seed)
        except ChecksumMismatch as caught:
            yield _check(f"sabotage:{fault}", caught.arm == "broken", f"a table that {fault} is refused: {caught}")
        else:
            yield _check(f"sabotage:{fault}", held=False, detail=f"a table that {fault} was raced as if it were sound")


def _counted() -> Iterator[Fact]:
    handlers = HandlerSet(HANDLERS)
    keys = handlers.distinct_keys
    text = f"{HANDLERS} handlers claim {keys} distinct keys; {handlers.residual_count} share one and test the payload"
    yield Fact("keys", text, float(keys), "keys", "counted")

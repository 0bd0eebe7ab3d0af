"""What an exercise is tried on: handlers and packets on which the likely mistakes come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nanokata import dispatch, traffic

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KEY", "RESIDUAL_KEY", "Case", "cases", "tally_packets", "windows"]

KEY, RESIDUAL_KEY = 3000, 3001
"""What the plugins of the exercises claim."""


class Case(NamedTuple):
    """A handler set and packets, with a name for what they try."""

    name: str
    handlers: dispatch.HandlerSet
    packets: NDArray[np.void]


def _residual(random: np.random.Generator) -> dispatch.Residual:
    offset, low, high = int(random.integers(24)), int(random.integers(256)), int(random.integers(256))
    kinds = (
        dispatch.Residual.none(),
        dispatch.Residual.mask(offset, low & 7, low & high & 7),
        dispatch.Residual.range(offset, min(low, high), max(low, high)),
        dispatch.Residual.flow(int(random.integers(2**63))),
    )
    return kinds[random.integers(len(kinds))]


def _packets(random: np.random.Generator, keys: list[int], count: int) -> NDArray[np.void]:
    packets = np.zeros(count, traffic.PACKET)
    packets["protocol"] = random.choice(keys, count)
    packets["flow"] = random.integers(2**32, size=count)
    packets["payload"] = random.integers(256, size=(count, 24))
    return packets


def _overlapping(seed: int) -> tuple[dispatch.HandlerSet, NDArray[np.void]]:
    """Return handlers of few keys, many of each, registered in no order, the least and the greatest key among them."""
    random = np.random.default_rng(seed)
    keys = [0, 65_534, *(int(key) for key in random.integers(300, size=6).repeat(6))]
    handlers = dispatch.HandlerSet.from_keys(keys, [_residual(random) for _ in keys], body="tiny")
    packets = _packets(random, [*keys, 1, 400, 65_533], 600)
    return handlers.reordered(random.permutation(len(keys)).tolist()), packets


def cases() -> Iterator[Case]:
    """Give what is tried, one pass each."""
    for seed in range(3):
        yield Case(f"overlapping handlers, draw {seed + 1}", *_overlapping(seed))
    kata = dispatch.HandlerSet(100, body="fat", seed=7)
    yield Case("the kata's handlers", kata, traffic.zipf(4_000, kata, unmatched=0.02, seed=7))
    many = dispatch.HandlerSet(1_024, body="tiny", seed=1)
    yield Case("1,024 handlers", many, traffic.uniform(4_000, many, unmatched=0.02, seed=1))
    one = dispatch.HandlerSet.from_keys([7], body="tiny")
    yield Case("one handler", one, _packets(np.random.default_rng(0), [7, 8], 50))
    nobody = dispatch.HandlerSet(10, body="tiny")
    others = [key for key in range(65_000, 65_100) if key not in nobody.keys]
    yield Case("packets that are nobody's", nobody, _packets(np.random.default_rng(0), others, 50))


def windows() -> Case:
    """Return so many packets that a race replays them in parts."""
    handlers = dispatch.HandlerSet(100, body="tiny", seed=3)
    return Case("parts of the pool", handlers, traffic.uniform(24_000, handlers, seed=3))


def tally_packets() -> NDArray[np.void]:
    """Return packets of the keys that the exercises' plugins claim."""
    return _packets(np.random.default_rng(5), [KEY, RESIDUAL_KEY], 500)

"""Traffic: packets drawn by a law, or read from a capture, as numpy arrays that are handed over without a copy.

Every generator takes how many packets to draw and for which handlers: a ``HandlerSet``, or the handlers' keys as a
sequence of whole numbers below 65,536. It runs on a thread of its own, pinned to `cpu` if given, with the GIL released.

The same arguments give the same bytes on every platform. All generators take these keywords:

unmatched : float, default 0.02
    Share of packets whose key no handler claims, 0 to 1.
seed : int, default 0
    Seed of the packets.
shuffle : bool, default True
    Whether a permutation says which handler is the busiest. ``False`` is the rigged generator: the busiest handler
    stands first in the list. It means nothing where the law names handlers itself (`hot`, `worst`, `from_weights`).
permutation_seed : int, optional
    Seed of that permutation; it follows from `seed` if left out.
cpu : int, optional
    CPU to draw on; :func:`last_ran` tells where the work was done.

They raise ``InvalidArgument`` for arguments out of bounds, ``OutOfMemory`` before anything is allocated, and
``PinningError`` for a CPU that can't be had.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, TypeAlias

import numpy as np

from nanokata import _core, arguments
from nanokata._core import Ran
from nanokata.errors import InvalidArgument, WrongArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nanokata.dispatch import HandlerSet

    Handlers: TypeAlias = HandlerSet | Sequence[int] | NDArray[np.integer]

__all__ = [
    "PACKET",
    "Capture",
    "Ran",
    "from_capture",
    "from_weights",
    "hot",
    "last_ran",
    "periodic",
    "skewed",
    "uniform",
    "worst",
    "zipf",
]

PACKET: np.dtype[np.void] = np.dtype(
    [("protocol", "<u2"), ("length", "<u2"), ("flow", "<u4"), ("payload", "u1", (24,))], align=True
)
"""A packet: protocol (the key that selects a handler), length in bytes, flow, first 24 bytes of payload; 32 bytes."""


DEFAULT_UNMATCHED = 0.02
_last = threading.local()


def last_ran() -> Ran | None:
    """Return where this thread's last generator did its work; ``None`` before the first."""
    ran: Ran | None = getattr(_last, "ran", None)
    return ran


def _refuse_masked(name: str, given: object) -> None:
    if isinstance(given, np.ma.MaskedArray):
        wanted, seen = "a plain ndarray or a sequence", "a masked array, whose mask would be ignored"
        raise WrongArray(f"{name}: wanted {wanted}; got {seen}", wanted=wanted, given=seen)


def _keys(handlers: Handlers) -> NDArray[np.uint16]:
    if isinstance(handlers, _core.HandlerSet):
        return handlers.keys
    _refuse_masked("handlers", handlers)
    keys = np.asarray(handlers)
    wanted = "wanted a HandlerSet, or a one-dimensional sequence of whole numbers from 0 to 65535"
    if keys.ndim != 1 or not (np.issubdtype(keys.dtype, np.integer) or keys.size == 0):
        raise InvalidArgument(
            f"handlers = {handlers!r}: {wanted}", name="handlers", value=repr(handlers), wanted=wanted
        )
    if keys.size and (int(keys.min()) < 0 or int(keys.max()) > 0xFFFF):
        worst_key = int(keys.max()) if int(keys.max()) > 0xFFFF else int(keys.min())
        raise InvalidArgument(f"key = {worst_key}: {wanted}", name="key", value=str(worst_key), wanted=wanted)
    return np.ascontiguousarray(keys, dtype=np.uint16)


def _draw(
    law: _core.Law,
    packets: SupportsIndex,
    handlers: Handlers,
    unmatched: float,
    seed: SupportsIndex,
    shuffle: bool,
    permutation_seed: SupportsIndex | None,
    cpu: SupportsIndex | None,
) -> NDArray[np.void]:
    drawn, _last.ran = _core.generate(
        law,
        arguments.whole("packets", packets),
        _keys(handlers),
        unmatched=unmatched,
        seed=arguments.whole("seed", seed),
        shuffle=shuffle,
        permutation_seed=arguments.optional_whole("permutation_seed", permutation_seed),
        cpu=arguments.cpu_number(cpu),
    )
    return drawn


def _weights(weights: Sequence[float] | NDArray[np.floating]) -> NDArray[np.float64]:
    _refuse_masked("weights", weights)
    found = np.asarray(weights)
    wanted = "wanted a one-dimensional sequence of real numbers, one a handler"
    if found.ndim != 1 or (found.size and found.dtype.kind not in "fiu"):
        raise InvalidArgument(f"weights = {weights!r}: {wanted}", name="weights", value=repr(weights), wanted=wanted)
    return np.ascontiguousarray(found, dtype=np.float64)


def uniform(
    packets: SupportsIndex,
    handlers: Handlers,
    *,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets for all handlers equally often. Returns `packets` of dtype `PACKET`."""
    return _draw(_core.Law.uniform(), packets, handlers, unmatched, seed, shuffle, permutation_seed, cpu)


def zipf(
    packets: SupportsIndex,
    handlers: Handlers,
    *,
    exponent: float = 1.1,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets by Zipf's law: rank r (from 0) with weight 1 / (r + 1)^exponent over the handlers there are.

    Exact for every finite `exponent` ≥ 0; 0 is uniform. Returns `packets` of dtype `PACKET`.
    """
    return _draw(_core.Law.zipf(exponent), packets, handlers, unmatched, seed, shuffle, permutation_seed, cpu)


def skewed(
    packets: SupportsIndex,
    handlers: Handlers,
    *,
    share: float = 0.95,
    top: SupportsIndex = 2,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets of which the `top` busiest handlers get `share` together, evenly, and the others the rest.

    The default is 95/5. Returns `packets` of dtype `PACKET`.
    """
    return _draw(
        _core.Law.skewed(share, arguments.whole("top", top)),
        packets,
        handlers,
        unmatched,
        seed,
        shuffle,
        permutation_seed,
        cpu,
    )


def hot(
    packets: SupportsIndex,
    handlers: Handlers,
    *,
    handler: SupportsIndex = 0,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets for one handler only, named by its place in registration order.

    Returns `packets` of dtype `PACKET`.
    """
    return _draw(
        _core.Law.hot(arguments.whole("handler", handler)),
        packets,
        handlers,
        unmatched,
        seed,
        shuffle,
        permutation_seed,
        cpu,
    )


def worst(
    packets: SupportsIndex,
    handlers: Handlers,
    *,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets for the last handler only: the most that a scan in registration order can cost.

    Returns `packets` of dtype `PACKET`.
    """
    return _draw(_core.Law.worst(), packets, handlers, unmatched, seed, shuffle, permutation_seed, cpu)


def periodic(
    packets: SupportsIndex,
    handlers: Handlers,
    *,
    period: SupportsIndex,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets for `period` handlers, one after the other, again and again: nothing about the order is random.

    Returns `packets` of dtype `PACKET`.
    """
    return _draw(
        _core.Law.periodic(arguments.whole("period", period)),
        packets,
        handlers,
        unmatched,
        seed,
        shuffle,
        permutation_seed,
        cpu,
    )


def from_weights(
    packets: SupportsIndex,
    handlers: Handlers,
    weights: Sequence[float] | NDArray[np.floating],
    *,
    unmatched: float = DEFAULT_UNMATCHED,
    seed: SupportsIndex = 0,
    shuffle: bool = True,
    permutation_seed: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> NDArray[np.void]:
    """Draw packets by `weights`, one a handler in registration order; they needn't sum to one.

    Returns `packets` of dtype `PACKET`.
    """
    return _draw(
        _core.Law.weights(_weights(weights)),
        packets,
        handlers,
        unmatched,
        seed,
        shuffle,
        permutation_seed,
        cpu,
    )


class Capture(NamedTuple):
    """What was read from a capture file."""

    packets: NDArray[np.void]
    """Its packets that have a key, of dtype `PACKET`, in order."""
    frames: int
    """Packets of the file."""
    skipped: int
    """Packets without such a key, left out."""
    cut_payloads: int
    """Packets whose payload was longer than a `PACKET` carries, cut to its first 24 bytes."""
    cut_frames: int
    """Packets that the capture itself holds only in part."""
    ran: Ran
    """Where it was read."""

    def __repr__(self) -> str:
        return (
            f"<Capture: {self.frames} frames, {len(self.packets)} packets, {self.skipped} without such a key, "
            f"{self.cut_payloads} payloads cut>"
        )


def from_capture(
    path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    *,
    key: str = "ip_protocol",
    offset: SupportsIndex | None = None,
    mask: SupportsIndex | None = None,
    cpu: SupportsIndex | None = None,
) -> Capture:
    """Read the packets of a pcap or pcapng file.

    Parameters
    ----------
    path : path
        The file.
    key : {"ip_protocol", "destination_port", "bytes"}
        Which 16 bits are a packet's key: the IP protocol number, the destination port of TCP or UDP, or the
        big-endian word at `offset` of the frame, link header included, and `mask`.
    offset, mask : int
        For ``key="bytes"`` only: where the word starts, and which of its bits count (all, if left out).
    cpu : int, optional
        CPU to read on.

    Raises
    ------
    CaptureError
        If the file is truncated, empty, no capture at all, or holds no packet with such a key.
    """
    found = _core.read_capture(
        arguments.path("path", path),
        key=arguments.word("key", key, "wanted ip_protocol, destination_port or bytes"),
        offset=arguments.optional_whole("offset", offset),
        mask=arguments.optional_whole("mask", mask, high=0xFFFF),
        cpu=arguments.cpu_number(cpu),
    )
    capture = Capture(*found)
    _last.ran = capture.ran
    return capture

"""Sharing: cache lines that two threads use, whether they mean to or not.

A probe is callable and untimed; time comes only from the experiments ``sharing.*``.
"""

from __future__ import annotations

from typing import SupportsIndex

from nanokata import _core, arguments
from nanokata._core import LinePass
from nanokata.errors import InvalidArgument

__all__ = ["LinePass", "line"]


def line(
    distance: SupportsIndex,
    steps: SupportsIndex = 100_000,
    *,
    mode: str = "writer_reader",
    writes: bool = True,
    cpus: tuple[SupportsIndex, SupportsIndex] | None = None,
) -> LinePass:
    """Let two pinned threads each use a word of their own, `distance` bytes apart in one aligned block.

    Parameters
    ----------
    distance : int
        Bytes from the measured thread's word to the other's: a multiple of 4, up to 1,024; 0 is one shared word.
    steps : int
        Steps of the measured thread.
    mode : {"writer_reader", "both_add"}
        Whether it loads its word in a dependent chain while the other stores, or both add to their own.
    writes : bool
        Whether the other thread writes at all; if not, nothing can be contended.
    cpus : (int, int), optional
        CPU of the measured thread and of the other; by default two allowed ones on different cores.

    Raises
    ------
    InvalidArgument, PinningError, NotMeasurable
        For distances that overlap, CPUs that can't be had, or a process that may not use two cores of one kind.
    """
    pair = None
    if cpus is not None:
        if not isinstance(cpus, (tuple, list)):
            raise arguments.wrong_type("cpus", cpus, "wanted two CPU numbers")
        numbers = tuple(arguments.cpu_number(cpu, "cpus") for cpu in cpus)
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
            wanted = "wanted two CPU numbers"
            raise InvalidArgument(f"cpus = {cpus!r}: {wanted}", name="cpus", value=repr(cpus), wanted=wanted)
        pair = (numbers[0], numbers[1])
    return _core.line(
        arguments.whole("distance", distance),
        arguments.whole("steps", steps, low=1, high=2**40),
        mode=arguments.word("mode", mode, "wanted writer_reader or both_add"),
        writes=writes,
        cpus=pair,
    )

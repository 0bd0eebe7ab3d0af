"""Seeing from outside that a call releases the GIL and leaves the caller's affinity alone."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Meanwhile:
    """What another Python thread did while a call ran."""

    def __init__(self, ticks: list[float], begun: float, ended: float) -> None:
        # Handing the GIL over takes a switch interval on either side of the call; the middle half is the call's own.
        quarter = (ended - begun) / 4
        self.ticks_inside = sum(begun + quarter < tick < ended - quarter for tick in ticks)


ATTEMPTS = 20
"""Calls before nobody else is said to run beside one. One that holds the GIL lets nobody in however often it is made;
one that releases it may keep every CPU busy for as long as it takes, and the scheduler lets the other thread wait."""


def beside(call: Callable[[], T]) -> tuple[T, Meanwhile]:
    """Run `call` beside another Python thread until that one got to run, or `ATTEMPTS` times; affinity is kept."""
    for _ in range(ATTEMPTS):
        result, meanwhile = once_beside(call)
        if meanwhile.ticks_inside > 0:
            break
    return result, meanwhile


def once_beside(call: Callable[[], T]) -> tuple[T, Meanwhile]:
    """Run `call` beside a thread that notes the time again and again; affinity must come out as it went in."""
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0002)

    before = os.sched_getaffinity(0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    other = threading.Thread(target=tick)
    other.start()
    try:
        while not ticks:
            time.sleep(0.001)
        begun = time.perf_counter()
        result = call()
        ended = time.perf_counter()
    finally:
        stop.set()
        other.join()
        sys.setswitchinterval(interval)
    assert os.sched_getaffinity(0) == before
    return result, Meanwhile(ticks, begun, ended)

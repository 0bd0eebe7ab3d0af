"""Arguments on their way to the core: bounds that Python's own numbers don't have."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from nanokata.errors import InvalidArgument

LARGEST = 2**64 - 1


def whole(name: str, value: SupportsIndex, *, low: int = 0, high: int = LARGEST) -> int:
    """Return `value` as a whole number from `low` to `high`, or raise :class:`InvalidArgument`."""
    number = operator.index(value)
    if low <= number <= high:
        return number
    bounds = f"from {low} to {high}" if high != LARGEST else f"from {low} to 2⁶⁴ − 1"
    wanted = f"wanted a whole number {bounds}"
    raise InvalidArgument(f"{name} = {number}: {wanted}", name=name, value=str(number), wanted=wanted)


def optional_whole(name: str, value: SupportsIndex | None, *, low: int = 0, high: int = LARGEST) -> int | None:
    """Return `value` as :func:`whole` does, or ``None`` as it is."""
    return None if value is None else whole(name, value, low=low, high=high)


def cpu_number(value: SupportsIndex | None, name: str = "cpu") -> int | None:
    """Return a CPU's number; whether that CPU exists and is allowed is the core's to say."""
    return optional_whole(name, value, high=2**31 - 1)

"""Arguments on their way to the core: types and bounds that Python's own values don't have."""

from __future__ import annotations

import operator
import os
from typing import SupportsIndex

from nanokata.errors import InvalidArgument, WrongType

LARGEST = 2**64 - 1


def wrong_type(name: str, value: object, wanted: str) -> WrongType:
    """Return the error for a value of another type than `wanted` says."""
    return WrongType(f"{name} = {value!r}: {wanted}", name=name, value=repr(value), wanted=wanted)


def whole(name: str, value: SupportsIndex, *, low: int = 0, high: int = LARGEST) -> int:
    """Return `value` as a whole number from `low` to `high`, or raise :class:`InvalidArgument`.

    ``True`` is a flag, not the number 1: it raises :class:`WrongType`, as what is no whole number does.
    """
    bounds = f"from {low} to {high}" if high != LARGEST else f"from {low} to 2⁶⁴ − 1"
    wanted = f"wanted a whole number {bounds}"
    try:
        if isinstance(value, bool):
            raise TypeError  # noqa: TRY301
        number = operator.index(value)
    except TypeError:
        raise wrong_type(name, value, wanted) from None
    if low <= number <= high:
        return number
    raise InvalidArgument(f"{name} = {number}: {wanted}", name=name, value=str(number), wanted=wanted)


def optional_whole(name: str, value: SupportsIndex | None, *, low: int = 0, high: int = LARGEST) -> int | None:
    """Return `value` as :func:`whole` does, or ``None`` as it is."""
    return None if value is None else whole(name, value, low=low, high=high)


def optional_real(name: str, value: float | None) -> float | None:
    """Return `value` as a number, or ``None`` as it is; its bounds are the core's to say."""
    return None if value is None else real(name, value)


def real(name: str, value: float) -> float:
    """Return `value` as a number, or raise :class:`WrongType`: texts and flags are none."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError  # noqa: TRY301
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong_type(name, value, "wanted a number") from None


def word(name: str, value: object, wanted: str) -> str:
    """Return `value` if it is a text, or raise :class:`WrongType`."""
    if isinstance(value, str):
        return value
    raise wrong_type(name, value, wanted)


def flag(name: str, value: object) -> bool:
    """Return `value` if it is true or false, or raise :class:`WrongType`."""
    if isinstance(value, bool):
        return value
    raise wrong_type(name, value, "wanted true or false")


def cpu_number(value: SupportsIndex | None, name: str = "cpu") -> int | None:
    """Return a CPU's number; whether that CPU exists and is allowed is the core's to say."""
    return optional_whole(name, value, high=2**31 - 1)


def path(name: str, value: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """Return a path as text in the system's own encoding, or raise :class:`InvalidArgument`."""
    wanted = "wanted a path, as a text, bytes or a Path"
    try:
        text = os.fsdecode(value)
    except TypeError:
        raise wrong_type(name, value, wanted) from None
    wanted = "wanted a path that this system can write down"
    try:
        possible = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InvalidArgument(f"{name} = {text!r}: {wanted}", name=name, value=repr(text), wanted=wanted)
    return text

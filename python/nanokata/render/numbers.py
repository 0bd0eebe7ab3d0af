"""How figures are written: as many digits as they carry, one way everywhere."""

from __future__ import annotations

import math

from nanokata.results.records import Value

TOO_FEW = "too few blocks"
"""What stands where an interval's ends would: there were too few blocks for one."""


def cost(value: float) -> str:
    """Return a cost with about four digits."""
    return f"{value:,.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    size = abs(value)
    if size == 0 or size >= 1000:
        return 0
    if size >= 10:
        return 1
    return 2 if size >= 1 else 3


def interval(low: float | None, high: float | None) -> str:
    """Return an interval as ``[low, high]``; that there is none where an end is missing."""
    return TOO_FEW if low is None or high is None else f"[{cost(low)}, {cost(high)}]"


def span(low: float | None, high: float | None) -> str:
    """Return an interval of costs, which are never negative, in fewer columns: ``559.4–570.6``."""
    return TOO_FEW if low is None or high is None else f"{cost(low)}–{cost(high)}"


def with_half_width(value: float, half: float | None) -> str:
    """Return ``444.5 ±4.4``: both with the same decimals, as many as show the half-width's first digit."""
    if half is None:
        return f"{cost(value)} ±?"
    needed = 0 if half <= 0 else max(0, -math.floor(math.log10(half)))
    decimals = min(max(_decimals(value), needed), 4)
    return f"{value:,.{decimals}f} ±{half:,.{decimals}f}"


def percent(share: float) -> str:
    """Return a share as a percentage with two or three digits."""
    scaled = 100 * share
    if abs(scaled) >= 10:
        return f"{scaled:.0f} %"
    return f"{scaled:.1f} %" if abs(scaled) >= 1 else f"{scaled:.2f} %"


def times(value: float) -> str:
    """Return a factor with two or three digits: 41×, 1.8×."""
    return f"{value:,.0f}×" if value >= 10 else f"{value:.1f}×"


def level(value: float) -> str:
    """Return a confidence level: 95 %, 99.29 %."""
    return f"{100 * value:.4g} %"


def byte_count(value: float) -> str:
    """Return a number of bytes in binary units: 32 KiB."""
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} GiB"


def parameter(name: str, value: Value, unit: str = "") -> str:
    """Return a parameter's value as a reader wants it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and (unit == "bytes" or name.endswith("bytes")) and value >= 1024:
        return byte_count(value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def seconds(value: float) -> str:
    """Return a duration: 0.8 s, 42 s, 3 min 5 s."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    return f"{value // 60:.0f} min {value % 60:.0f} s"

"""The budget: how many nanoseconds a packet may cost at a target rate."""

from __future__ import annotations

TARGET_PACKETS_PER_SECOND = 3_000_000
"""The rate that the plugin-dispatch kata asks for."""

BUDGET_NS = 1e9 / TARGET_PACKETS_PER_SECOND
"""Nanoseconds that one core has for a packet at that rate: 333 ns."""


def share(ns_per_packet: float) -> float:
    """Return which share of the budget a cost takes (1 is all of it)."""
    return ns_per_packet / BUDGET_NS


def has_budget(unit: str) -> bool:
    """Return whether costs in `unit` can be held against the budget."""
    return unit == "ns/packet"

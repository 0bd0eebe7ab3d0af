"""The first packet that came out wrong: who runs it, and what was made of it instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nanokata import dispatch, plugin

if TYPE_CHECKING:
    from nanokata.dispatch import Arm, HandlerSet, Pass

    from .inputs import Case

__all__ = ["first_difference"]

_EMPTY, _PRIME, _NOBODY = 0xCBF2_9CE4_8422_2325, 0x0000_0100_0000_01B3, 0xFFFF
"""As ``nanokata_arm.h`` has them."""


def _fold(value: int, handler: int) -> int:
    """Return the fold of one outcome, as ``nanokata_fold`` does it."""
    mixed = (_EMPTY ^ value ^ handler << 48) * _PRIME % 2**64
    return (mixed << 23 | mixed >> 41) % 2**64


def first_difference(case: Case, tried: Arm, *, alone: bool) -> str:
    """Return what is to be said of the first packet that comes out wrong; `alone` if the code only selects."""
    right: Arm = plugin.select("scan", case.handlers) if alone else dispatch.scan(case.handlers)
    for at in range(len(case.packets)):
        one = case.packets[at : at + 1]
        got = int(tried(one).checksum)
        if got == int(right(one).checksum):
            continue
        key = int(one["protocol"][0])
        wanted = _who(dispatch.scan(case.handlers)(one))
        if alone:
            wanted, found = _place(case.handlers, wanted), _said(got)
            return f"packet {at} of protocol {key}: {_text(wanted, 'place')} is right, and yours wrote {found}"
        return (
            f"packet {at} of protocol {key}: {_text(wanted, 'handler')} runs it; {_made(case.handlers, one, key, got)}"
        )
    return "each packet by itself comes out right: what is wrong depends on the packets before it"


def _who(ran: Pass) -> int:
    return _NOBODY if ran.handlers is None else int(ran.handlers[0])


def _place(handlers: HandlerSet, number: int) -> int:
    return number if number == _NOBODY else np.asarray(handlers.order).tolist().index(number)


def _text(number: int, what: str) -> str:
    if number == _NOBODY:
        return "NANOKATA_NO_HANDLER" if what == "place" else "nobody"
    return f"{what} {number}"


def _said(got: int) -> str:
    """Return what a selection wrote for a single packet."""
    for place in range(1_024):
        if got == _fold(place, 0):
            return f"place {place}"
    return "NANOKATA_NO_HANDLER" if got == _fold(_NOBODY, 0) else "nothing, or no place that there is"


def _made(handlers: HandlerSet, one: np.ndarray, key: int, got: int) -> str:
    """Return what a whole arm made of a single packet, if that can be told from its checksum."""
    if got == _fold(0, _NOBODY):
        return "in yours nobody does"
    if got == _EMPTY:
        return "yours folded nothing for it"
    keys, order = np.asarray(handlers.keys).tolist(), np.asarray(handlers.order).tolist()
    any_key = [dispatch.Residual.none()] * len(keys)
    for number in (number for number, own in enumerate(keys) if own == key):
        first = [number, *(other for other in order if other != number)]
        taking_all = dispatch.HandlerSet.from_keys(keys, any_key, body=handlers.body).reordered(first)
        if got != int(dispatch.scan(taking_all)(one).checksum):
            continue
        holds = _who(dispatch.scan(handlers.reordered(first))(one)) == number
        why = "which matches too, but stands behind it" if holds else "whose residual doesn't hold"
        return f"in yours handler {number} does, {why}"
    return "yours computes something else: the value, the signature or the fold"

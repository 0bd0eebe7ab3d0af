"""Presets: values of several parameters under one name; explicit ones win."""

from __future__ import annotations

from nanokata.errors import InvalidArgument

Setting = bool | int | float | str

ORIGINAL_POOL = 32_768
"""Packets of the pool in the kata as it was published."""

PRESETS: dict[str, dict[str, dict[str, Setting]]] = {
    "dispatch.selection": {"original": {"pool": ORIGINAL_POOL}},
    "dispatch.mechanism": {"original": {"pool": ORIGINAL_POOL}},
}
"""By experiment and name, what a preset sets."""


def values(experiment: str, preset: str | None) -> dict[str, Setting]:
    """Return what `preset` sets for `experiment` (nothing for ``None``), or raise :class:`InvalidArgument`."""
    if preset is None:
        return {}
    known = PRESETS.get(experiment, {})
    if preset in known:
        return dict(known[preset])
    wanted = f"{experiment} has {', '.join(known)}" if known else f"{experiment} has no presets; leave it out"
    raise InvalidArgument(f"preset = {preset!r}: {wanted}", name="preset", value=str(preset), wanted=wanted)

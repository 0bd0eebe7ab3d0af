"""Presets: values of several parameters under one name; explicit ones win."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nanokata.errors import InvalidArgument

Setting = bool | int | float | str

ORIGINAL_POOL = 32_768
"""Packets of the pool in the kata as it was published."""

PRESETS: dict[str, dict[str, dict[str, Setting]]] = {
    f"dispatch.{name}": {"original": {"pool": ORIGINAL_POOL}}
    for name in ("selection", "mechanism", "proposals", "icache", "residual", "distribution", "tail")
}
"""By experiment and name, what a preset sets."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A preset of a simulation: values, of which there may be several, and the arms that it is about."""

    values: Mapping[str, Setting | tuple[Setting, ...]]
    arms: tuple[str, ...]


SIMULATED: dict[str, dict[str, Simulated]] = {
    "dispatch.mechanism": {
        "causes": Simulated(
            {"body": ("fat", "tiny"), "traffic": ("hot", "zipf"), "handlers": 100, "pool": ORIGINAL_POOL},
            ("dyn_trait",),
        ),
    },
    "dispatch.selection": {
        "profile": Simulated(
            {"body": "fat", "traffic": "uniform", "handlers": 100, "pool": ORIGINAL_POOL},
            ("scan", "table_compact"),
        ),
    },
}
"""By experiment and name, the presets that only a simulation has."""


def simulated(experiment: str, preset: str | None) -> Simulated | None:
    """Return the preset of that name that only a simulation has; ``None`` for others, unknown ones refused."""
    if preset is None or preset in PRESETS.get(experiment, {}):
        return None
    known = SIMULATED.get(experiment, {})
    if preset in known:
        return known[preset]
    names = ", ".join((*known, *PRESETS.get(experiment, {})))
    wanted = f"{experiment} has {names}" if names else f"{experiment} has no presets; leave it out"
    raise InvalidArgument(f"preset = {preset!r}: {wanted}", name="preset", value=str(preset), wanted=wanted)


def values(experiment: str, preset: str | None) -> dict[str, Setting]:
    """Return what `preset` sets for `experiment` (nothing for ``None``), or raise :class:`InvalidArgument`."""
    if preset is None:
        return {}
    known = PRESETS.get(experiment, {})
    if preset in known:
        return dict(known[preset])
    wanted = f"{experiment} has {', '.join(known)}" if known else f"{experiment} has no presets; leave it out"
    raise InvalidArgument(f"preset = {preset!r}: {wanted}", name="preset", value=str(preset), wanted=wanted)

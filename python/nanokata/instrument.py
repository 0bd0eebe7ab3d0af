"""The instrument and the machine that it stands on: the card, and the doctor's trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nanokata.fingerprint import fingerprint
from nanokata.shown import Shown

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Doctor", "Machine", "Progress", "doctor", "machine"]

Progress = Callable[[str, float], None]
"""Called now and then with what is being done and the fraction behind us (0…1)."""


class _Document(Mapping[str, Any], Shown):
    """A read-only mapping over one of the core's JSON objects, shown as a table."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 (JSON)
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (JSON)
        if name.startswith("_"):
            # While a copy is being made there is no `_data` yet to look into.
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        if name in self._data:
            return self._data[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self._data)}")

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON."""
        return json.dumps(self._data, indent=indent, ensure_ascii=False)


class Machine(_Document):
    """The machine card: CPU, caches, cores, kernel, clock, compiler, build profile.

    A read-only mapping; its keys are attributes as well.
    """

    @property
    def id(self) -> str:
        """Short name of this machine as it is now: the same card gives the same name."""
        given = self._data.get("id")
        return str(given) if given else fingerprint(self._data)

    @property
    def name(self) -> str:
        """What to call it in a figure: the processor's name, if it is known, and the id."""
        cpu = self._data.get("cpu")
        model = cpu.get("model") if isinstance(cpu, Mapping) else cpu
        return f"{model}, {self.id}" if model else f"machine {self.id}"

    def __rich__(self) -> RenderableType:
        from nanokata.render import machine_renderable

        return machine_renderable(self)

    def __repr__(self) -> str:
        return f"<Machine {self.id}>"


WORST_FALSE_VERDICTS = 0.05
"""Share of races of an arm with itself that may be called different."""
LEAST_DETECTION = 0.95
"""Share of races with 2 % of extra work that must be called slower."""


class Doctor(_Document):
    """What the doctor found: the clock, the floor, the counters, and the error rates of verdicts made here.

    A read-only mapping; its keys are attributes as well: `tick_ns`, `floor_ns`, `false_verdict_rate`,
    `detection_rate` (of 2 % of extra packets), `half_width`,
    `layout_spread`, each the worst of `bodies`; `bodies`, with every rate and
    its Clopper–Pearson interval at 95 %, and the ratio of an arm to itself (`again_ratio`,
    `again_low`, `again_high`); `trials` (0 where one race's blocks were resampled), `machine`, …
    """

    @property
    def fit(self) -> bool:
        """Whether equal arms are told equal and unequal ones unequal often enough here."""
        return self._agrees_with_itself and self._errs_rarely and self._sees_enough

    @property
    def _agrees_with_itself(self) -> bool:
        """Whether each body's interval of an arm against itself reaches into the margin; older documents have none."""
        margin = self["margin"]
        return not any(
            body["again_low"] > 1 + margin or body["again_high"] < 1 - margin
            for body in self["bodies"]
            if body.get("again_low") is not None and body.get("again_high") is not None
        )

    @property
    def _errs_rarely(self) -> bool:
        return bool(self["false_verdict_rate"] <= WORST_FALSE_VERDICTS)

    @property
    def _sees_enough(self) -> bool:
        return bool(self["detection_rate"] >= LEAST_DETECTION)

    @property
    def verdict(self) -> str:
        """The finding in one line."""
        if not self._agrees_with_itself:
            finding = "not to be trusted here, an arm differs from itself"
        elif not self._errs_rarely:
            finding = "not to be trusted here"
        else:
            finding = "fit to measure" if self._sees_enough else "too noisy here to see 2 %"
        by = f"{self['trials']} trials" if self["trials"] else "resampled"
        return (
            f"{finding}: {100 * self['false_verdict_rate']:.1f} % false verdicts, "
            f"{100 * self['detection_rate']:.0f} % of +2 % found, ±{100 * self['half_width']:.2f} % ({by})"
        )

    @property
    def exit_code(self) -> int:
        """What a script should make of it.

        0 if fit to measure, 1 if verdicts err too often or an arm differs from itself, 3 if the machine is too noisy to
        come to any verdict.
        """
        if not (self._agrees_with_itself and self._errs_rarely):
            return 1
        return 0 if self._sees_enough else 3

    def __rich__(self) -> RenderableType:
        from nanokata.render import doctor_renderable

        return doctor_renderable(self)

    def __repr__(self) -> str:
        return f"<Doctor: {self.verdict}>"


_LOOK_SECONDS = 1.0
"""About how long looking at the instrument takes before the trials."""


def doctor_seconds(trials: int | None, trial_seconds: float) -> float:
    """Return about how long :func:`doctor` takes, in seconds: trials and layouts, fat bodies and tiny."""
    return _LOOK_SECONDS + 2 * ((trials or 1) + 1) * trial_seconds


def machine() -> Machine:
    """Read the machine card."""
    from nanokata import _core

    return Machine(json.loads(_core.machine_card()))


def stored_doctor(card: Machine) -> Doctor | None:
    """Return what an earlier doctor found on this machine with this build, if it is stored."""
    from nanokata import _core
    from nanokata.store import Store

    store = Store()
    found = store.doctor(card.id, _core.build_id())
    if found is None:
        return None
    try:
        return _checked(found)
    except Exception as problem:  # noqa: BLE001 (a stored document may be damaged in any way)
        from nanokata.store import NOT_SHOWN

        store.warn(ValueError(f"a stored document is damaged: {problem!r}"), NOT_SHOWN)
        return None


def layout_spread() -> float | None:
    """Return how far apart the copies of one loop were that differ in nothing but where they lie, relative.

    ``None`` where no doctor has measured that on this machine with this build.
    """
    known = stored_doctor(machine())
    spread = None if known is None else known.get("layout_spread")
    usable = isinstance(spread, float) and 0 < spread < 1
    return spread if usable else None


def _checked(found: Mapping[str, Any]) -> Doctor:
    """Return a stored document as a doctor's, or raise whatever its damage makes raise."""
    known = Doctor(found)
    for name in ("trials", "trial_seconds", "tick_ns", "floor_ns"):
        if isinstance(known[name], bool) or not isinstance(known[name], (int, float)):
            raise TypeError(f"{name} is no number: {known[name]!r}")
    # What a run shows of it.
    _ = known.verdict, known.exit_code
    return known


def doctor(
    *,
    trials: int | None = None,
    trial_seconds: float = 2.0,
    seed: int = 0,
    cpu: int | None = None,
    progress: Progress | None = None,
) -> Doctor:
    """Examine the instrument on this machine, and store what was found for the runs to come.

    Parameters
    ----------
    trials : int, optional
        How many times an arm is raced with itself and with a known amount of extra work, for each kind of body;
        without it, the short form: one race a body whose blocks are resampled, and labelled so.
    trial_seconds : float
        Time of one trial, in seconds; 0.1 at least.
    seed : int
        Seed of inputs and placements.
    cpu : int, optional
        CPU to measure on; by default the first allowed performance core that isn't CPU 0.
    progress : callable, optional
        Called about ten times a second with what is being done and the fraction behind us.
    """
    from nanokata import _core, arguments
    from nanokata.store import Store

    text = _core.doctor(
        trials=arguments.optional_whole("trials", trials, low=1, high=100_000),
        trial_seconds=arguments.real("trial_seconds", trial_seconds),
        seed=arguments.whole("seed", seed),
        cpu=arguments.cpu_number(cpu),
        progress=progress,
    )
    found = Doctor(json.loads(text))
    Store().save_doctor(Machine(found["machine"]).id, _core.build_id(), int(found["trials"]), found)
    return found

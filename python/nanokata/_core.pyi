"""The native half: private, wrapped by the modules around it."""

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Arm",
    "HandlerSet",
    "Law",
    "LinePass",
    "Pass",
    "Plugin",
    "Ran",
    "Residual",
    "__version__",
    "advise",
    "arm_code",
    "build_id",
    "build_plugin",
    "catalogue",
    "changed_handlers",
    "distinct_bodies",
    "doctor",
    "examination_stages",
    "expected_probes",
    "expected_seconds",
    "frequency_order",
    "functions",
    "generate",
    "line",
    "load_plugin",
    "machine_card",
    "mechanism",
    "null",
    "own_arm",
    "own_selection",
    "perform_examination",
    "perform_simulation",
    "proposal",
    "race",
    "reach",
    "read_capture",
    "run_experiment",
    "scan_ordered",
    "selection",
    "selection_alone",
    "sha256",
    "shipped_plugins",
    "simulate_experiment",
    "simulation_processes",
]

__version__: str

_Progress = Callable[[str, float], object] | None

@final
class Ran:
    """Where a job ran."""

    @property
    def requested(self) -> int | None:
        """CPU asked for."""
    @property
    def start_cpu(self) -> int | None:
        """CPU seen at the start; ``None`` where the system doesn't tell."""
    @property
    def end_cpu(self) -> int | None:
        """CPU seen at the end."""
    @property
    def pinned(self) -> bool:
        """Whether the thread was held on the CPU asked for."""
    @property
    def reason(self) -> str | None:
        """Why not, where this system can't pin."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Law:
    """How often each handler's key is drawn."""

    @staticmethod
    def uniform() -> Law: ...
    @staticmethod
    def zipf(exponent: float) -> Law: ...
    @staticmethod
    def skewed(share: float, top: int) -> Law: ...
    @staticmethod
    def hot(handler: int) -> Law: ...
    @staticmethod
    def worst() -> Law: ...
    @staticmethod
    def periodic(period: int) -> Law: ...
    @staticmethod
    def weights(weights: NDArray[np.float64]) -> Law: ...

@final
class Residual:
    """What a packet must satisfy besides its key."""

    @staticmethod
    def none() -> Residual:
        """Nothing: the key decides."""
    @staticmethod
    def mask(offset: SupportsIndex, mask: SupportsIndex, value: SupportsIndex) -> Residual:
        """``payload[offset] & mask == value``."""
    @staticmethod
    def range(offset: SupportsIndex, low: SupportsIndex, high: SupportsIndex) -> Residual:
        """``low <= payload[offset] <= high``."""
    @staticmethod
    def flow(active: SupportsIndex) -> Residual:
        """Bit ``flow & 63`` of `active` is set."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class HandlerSet:
    """Handlers and their registration order; never changed after it was made."""

    def __new__(
        cls,
        handlers: SupportsIndex,
        body: str = "fat",
        *,
        residual_share: float = 0.10,
        seed: SupportsIndex | None = None,
    ) -> HandlerSet: ...
    @staticmethod
    def from_keys(
        keys: NDArray[np.integer] | Sequence[int], residuals: Sequence[Residual] | None = None, *, body: str = "fat"
    ) -> HandlerSet:
        """Any keys and predicates, overlapping ones too, registered in the order given."""
    @staticmethod
    def from_packets(
        packets: NDArray[np.void], handlers: SupportsIndex, *, body: str = "fat", seed: SupportsIndex | None = None
    ) -> HandlerSet:
        """One handler for each of the most frequent keys; other packets stay unmatched."""
    def reordered(self, order: Sequence[int] | NDArray[np.integer]) -> HandlerSet:
        """Return the same handlers, registered in another order."""
    def overlaps(self) -> list[tuple[int, int]]:
        """Return pairs of handlers that can both match one packet: between them order decides."""
    def __len__(self) -> int: ...
    def with_plugin(self, plugin: object) -> HandlerSet:
        """Return the same handlers with one for each claim of a loaded plugin behind them.

        A residual claim enters the residual list of its key, since nothing else is known of it.
        """
    @property
    def built_in(self) -> int:
        """How many of the handlers are built in; those of plugins have the numbers from there on."""
    @property
    def keys(self) -> NDArray[np.uint16]:
        """Each handler's key, by its number."""
    @property
    def residuals(self) -> list[Residual]:
        """Each handler's residual predicate, by its number."""
    @property
    def order(self) -> NDArray[np.uint16]:
        """Handler numbers in registration order."""
    @property
    def body(self) -> str:
        """``fat``, ``tiny`` or ``identical``."""
    @property
    def distinct_keys(self) -> int:
        """How many different keys are claimed."""
    @property
    def residual_count(self) -> int:
        """How many handlers test more than their key."""

@final
class Pass:
    """What one untimed pass of an arm computed, and where it ran."""

    @property
    def checksum(self) -> int:
        """Fold over all results; of up to 65,536 packets, arms that do the same work have the same."""
    @property
    def handlers(self) -> NDArray[np.uint16] | None:
        """Who ran, one a packet; 65535 where nobody did. ``None`` for arms that don't select."""
    @property
    def probes(self) -> NDArray[np.uint32] | None:
        """Probes, one a packet. ``None`` for arms that don't select."""
    @property
    def ran(self) -> Ran:
        """Where it ran."""

@final
class Arm:
    """One way of doing the work: callable on packets, and a recipe for races."""

    def __call__(self, packets: NDArray[np.void], *, cpu: SupportsIndex | None = None) -> Pass: ...
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def help(self) -> str:
        """What it does, in one line."""
    @property
    def handlers(self) -> HandlerSet:
        """Its handlers."""
    @property
    def footprint_bytes(self) -> int | None:
        """Bytes of tables, lists and keys that selecting touches or reserves."""

@final
class Plugin:
    """A plugin in this process, until it is unloaded."""

    @property
    def path(self) -> pathlib.Path:
        """Its file."""
    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes that were loaded, in hexadecimal."""
    @property
    def struct_size(self) -> int:
        """Bytes of its struct of functions, as it says."""
    @property
    def abi_version(self) -> int:
        """What it says that its functions mean."""
    @property
    def has_batch(self) -> bool:
        """Whether it has ``process_batch``."""
    @property
    def claims(self) -> list[tuple[int, bool]]:
        """What it claims: key, and whether only some of that key's packets are its own."""
    @property
    def stays(self) -> bool:
        """Whether the library stays until this process ends."""
    @property
    def unloaded(self) -> bool:
        """Whether it was unloaded."""
    def unload(self) -> bool:
        """Let go of it; whether the library is closed now."""
    def process(
        self, packets: NDArray[np.void], *, batch: SupportsIndex | None, cpu: SupportsIndex | None
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint16], NDArray[np.int32], Ran]:
        """One pass of a fresh instance: values, claims, statuses, and where it ran."""
    def __enter__(self) -> Plugin: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class LinePass:
    """What one untimed pass of a line probe did."""

    @property
    def checksum(self) -> int:
        """Fold over what the measured thread saw."""
    @property
    def other_steps(self) -> int:
        """Steps that the other thread made meanwhile."""
    @property
    def ran(self) -> Ran:
        """Where the measured thread ran."""
    @property
    def other_cpu(self) -> int:
        """CPU that the other thread is pinned to."""

def doctor(*, trials: int | None, trial_seconds: float, seed: int, cpu: int | None, progress: _Progress) -> str: ...
def catalogue() -> str: ...
def machine_card() -> str: ...
def build_id() -> str: ...
def selection(name: str, handlers: HandlerSet, *, residual_bound: int | None = None) -> Arm: ...
def scan_ordered(handlers: HandlerSet, order: Sequence[int]) -> Arm: ...
def mechanism(name: str, handlers: HandlerSet) -> Arm: ...
def proposal(name: str, handlers: HandlerSet) -> Arm: ...
def arm_code(handlers: HandlerSet) -> str: ...
def null(handlers: HandlerSet) -> Arm: ...
def frequency_order(
    handlers: HandlerSet, packets: NDArray[np.void], *, cpu: int | None = None
) -> NDArray[np.uint16]: ...
def changed_handlers(
    handlers: HandlerSet, packets: NDArray[np.void], a: Sequence[int], b: Sequence[int], *, cpu: int | None = None
) -> int: ...
def distinct_bodies(handlers: HandlerSet) -> tuple[int, int]: ...
def expected_probes(name: str, handlers: HandlerSet, weights: Sequence[float], unmatched: float) -> float | None: ...
def generate(
    law: Law,
    packets: int,
    keys: NDArray[np.uint16],
    *,
    unmatched: float,
    seed: int,
    shuffle: bool,
    permutation_seed: int | None,
    cpu: int | None,
) -> tuple[NDArray[np.void], Ran]: ...
def read_capture(
    path: str, *, key: str, offset: int | None, mask: int | None, cpu: int | None
) -> tuple[NDArray[np.void], int, int, int, int, Ran]: ...
def line(distance: int, steps: int, *, mode: str, writes: bool, cpus: tuple[int, int] | None) -> LinePass: ...
def race(
    arms: Sequence[tuple[str, Arm]],
    packets: NDArray[np.void],
    *,
    baseline: str,
    control: dict[str, str],
    quick: bool,
    seconds: float | None,
    precision: float | None,
    margin: float | None,
    layout_spread: float | None,
    order: str,
    tails: bool,
    seed: int,
    cpu: int | None,
    counters: Sequence[str] | None,
    progress: _Progress,
) -> str: ...
def expected_seconds(id: str, values: str, *, companions: bool, quick: bool, seconds: float | None) -> float: ...
def run_experiment(
    id: str,
    values: str,
    *,
    companions: bool,
    sabotage: str | None,
    quick: bool,
    seconds: float | None,
    precision: float | None,
    margin: float | None,
    layout_spread: float | None,
    seed: int,
    cpu: int | None,
    counters: Sequence[str] | None,
    progress: _Progress,
) -> str: ...
def advise(
    *,
    keys: NDArray[np.uint16] | None,
    weights: NDArray[np.float64] | None,
    packets: object,
    set: HandlerSet | None,
    handlers: int | None,
    order_given: bool,
    residual_share: float,
    overlap: float,
    body: str,
    rate: float,
    adversarial: bool,
    worth_share: float,
    captured_share: float,
    probe_ns: float,
    measure: bool,
    pool: int | None,
    quick: bool,
    seconds: float | None,
    precision: float | None,
    seed: int,
    cpu: int | None,
    progress: _Progress,
) -> str:
    """Answer whether to keep a list, sort it or build a table; a JSON document."""

def reach(path: str | None, symbol: str, *, without: Sequence[str], progress: _Progress) -> str:
    """Sum the code that is reachable from a function; a JSON document. ``None`` is the extension itself."""

def functions(path: str | None, *, contains: str) -> str:
    """List the functions of a binary; a JSON list."""

def simulate_experiment(
    id: str,
    values: str,
    *,
    arms: Sequence[str],
    passes: int,
    runs: int,
    timeout: float,
    jobs: int | None,
    seed: int,
    performer: tuple[str, Sequence[str]],
    environment: dict[str, str],
    path: str,
    progress: _Progress,
) -> str: ...
def simulation_processes(id: str, values: str, *, arms: Sequence[str], runs: int) -> int: ...
def perform_simulation(file: str) -> None: ...
def build_plugin(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    compiler: str | None,
    options: Sequence[str],
) -> tuple[pathlib.Path, str, str, str]: ...
def load_plugin(path: str | os.PathLike[str], *, allow: str | os.PathLike[str] | None) -> Plugin: ...
def examination_stages() -> tuple[list[tuple[str, str]], int]: ...
def perform_examination(path: str | os.PathLike[str], report: int) -> None: ...
def sha256(path: str | os.PathLike[str]) -> str: ...
def own_arm(path: str | os.PathLike[str], handlers: HandlerSet) -> Arm: ...
def own_selection(path: str | os.PathLike[str], handlers: HandlerSet) -> Arm: ...
def selection_alone(name: str, handlers: HandlerSet) -> Arm: ...
def shipped_plugins() -> tuple[list[tuple[str, pathlib.Path]], pathlib.Path]: ...

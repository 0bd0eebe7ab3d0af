"""Should you? Keep the list, sort it, or build a table: from traffic and a rate to a reasoned recommendation."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from nanokata import arguments
from nanokata.budget import TARGET_PACKETS_PER_SECOND
from nanokata.errors import InvalidArgument
from nanokata.instrument import Machine, Progress
from nanokata.results import RunResult
from nanokata.results.records import Record
from nanokata.shown import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from nanokata.dispatch import HandlerSet

    Path: TypeAlias = str | os.PathLike[str]
    Weights: TypeAlias = Path | Mapping[int, float] | Mapping[str, float] | Sequence[float] | NDArray[np.number]

__all__ = ["Advice", "Costs", "Figure", "Probing", "Recommendation", "Reordering", "advise"]


@dataclass(frozen=True, slots=True)
class Probing(Record):
    """Probes a packet: calls of ``matches`` in a list; the lookup and each test in a table."""

    mean: float
    worst: int


@dataclass(frozen=True, slots=True)
class Figure(Record):
    """A figure with the ends of its 95 % interval; all three are the same where it was assumed."""

    value: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether there is no interval."""
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Source(Record):
    """Where costs come from: ``measured``, or ``assumed`` (and why, if measuring was tried)."""

    kind: Literal["measured", "assumed"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Costs(Record):
    """Nanoseconds a packet: of list, sorted list and table, in this order.

    `usual` is this traffic, `worst` packets that make a list ask everybody (keys that nobody claims); `saved` what
    sorting and what a table saves; `captured` the share of a table's saving in time that sorting makes. Measured costs
    hold loop, search, call and a handler's work; assumed ones are probes times `probe_ns`.
    """

    source: Source
    probe_ns: float | None
    usual: tuple[Figure, ...]
    worst: tuple[Figure, ...]
    saved: tuple[Figure, ...]
    saved_at_worst: Figure
    captured: Figure | None

    @property
    def measured(self) -> bool:
        """Whether they were measured on this machine, with verdicts that stand."""
        return self.source.kind == "measured"


@dataclass(frozen=True, slots=True)
class Reordering(Record):
    """What sorting by frequency alone would do: `changed` of `packets` would run another handler.

    No packets are looked at where no predicates overlap, since nothing can change.
    """

    overlapping_pairs: int
    packets: int
    changed: int
    free_mean: float


@dataclass(frozen=True, slots=True)
class Thresholds(Record):
    """When a win counts, as a share of the budget, and when sorting captures enough of it."""

    worth_share: float
    captured_share: float


@dataclass(frozen=True, slots=True)
class Recommendation(Record):
    """What to do, the number of the rule that settled it, why, and what must stay so.

    `close` says that an interval reaches across the threshold it was held against.
    """

    choice: Literal["neither", "sort", "table"]
    rule: int
    because: tuple[str, ...]
    conditions: tuple[str, ...]
    close: bool


@dataclass(frozen=True, slots=True, eq=False)
class Advice(Record, Shown):
    """The answer to :func:`advise`: what was counted, what it costs, and what to do."""

    handlers: int
    keys: int
    residual_handlers: int
    traffic: float
    """Sum of the weights, or number of packets."""
    packets: int | None
    """How many packets were given; ``None`` where weights were."""
    unclaimed_keys: int
    unmatched: float
    """Share of packets that no handler takes."""
    order: Literal["given", "typical"]
    list: Probing
    sorted: Probing
    table: Probing
    any_order_mean: float | None
    captured: float | None
    """Of the probes that a table saves, the share that sorting saves; ``None`` where a table saves none."""
    busiest: float
    """The busiest handler's share of packets."""
    reordering: Reordering
    rate: float
    budget_ns: float
    adversarial: bool
    costs: Costs
    recommendation: Recommendation
    thresholds: Thresholds
    replayed: int | None
    seed: int
    machine: Machine
    race: RunResult | None
    """The race behind measured costs."""
    document: dict[str, Any] = field(repr=False)

    @property
    def choice(self) -> Literal["neither", "sort", "table"]:
        """What to do."""
        return self.recommendation.choice

    def to_json(self, *, indent: int | None = None) -> str:
        """Return everything as JSON: the core's own document."""
        return json.dumps(self.document, indent=indent, ensure_ascii=False, allow_nan=False)

    def plot(self, ax: Axes | None = None) -> Drawn:
        """Draw costs against the budget; into `ax` if given."""
        from nanokata.figures.advice import advice

        return advice(self, ax=ax)

    def __rich__(self) -> RenderableType:
        from nanokata.render.advice import advice_renderable

        return advice_renderable(self)

    def __repr__(self) -> str:
        return f"<Advice: {self.choice} (rule {self.recommendation.rule}), {self.handlers} handlers>"


def _advice(text: str) -> Advice:
    from nanokata import _core

    document: dict[str, Any] = {**json.loads(text), "version": _core.__version__}
    found, machine = document["advice"], document["machine"]
    race = None
    if found["report"] is not None and found["report"]["cells"]:
        shown = {"report": found["report"], "machine": machine, "version": _core.__version__, "units": {}}
        race = RunResult(shown)
    return Advice.from_json({**found, "machine": Machine(machine), "race": race, "document": document})


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _by_key(weights: Mapping[Any, Any]) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Return keys and weights of a mapping; names that are no numbers become keys in order."""
    wanted = "wanted a mapping of keys (whole numbers from 0 to 65535) or of handlers' names to numbers"
    named = [isinstance(key, str) for key in weights]
    if any(named) and not all(named):
        raise arguments.wrong_type("weights", weights, f"{wanted}, not of both")
    if len(weights) > 1 << 16:
        given = f"{len(weights)} weights"
        raise InvalidArgument(f"weights = {given}: wanted at most 65536", name="weights", value=given, wanted=wanted)
    keys = range(len(weights)) if any(named) else [arguments.whole("key", key, high=0xFFFF) for key in weights]
    numbers = [arguments.real("weights", weight) for weight in weights.values()]
    return np.asarray(keys, dtype=np.uint16), np.asarray(numbers, dtype=np.float64)


def _seen(weights: Weights, by_number: bool) -> tuple[NDArray[np.uint16] | None, NDArray[np.float64]]:
    """Return the keys (``None`` where weights go by the handlers' numbers) and the weights."""
    if _is_path(weights):
        from nanokata.weights_file import read_weights

        return _by_key(read_weights(arguments.path("weights", weights)).weights)  # type: ignore[arg-type]
    if isinstance(weights, Mapping):
        return _by_key(weights)
    if hasattr(weights, "items") and hasattr(weights, "index"):
        # A column of a data frame: its index says whose weight each is.
        return _summed(weights)
    wanted = "wanted a path, a mapping, a column of a data frame, or a sequence of numbers, one a handler"
    if isinstance(weights, np.ma.MaskedArray):
        raise arguments.wrong_type("weights", weights, f"{wanted}; a mask would be ignored")
    try:
        numbers = np.asarray(weights)
    except ValueError:
        raise arguments.wrong_type("weights", weights, wanted) from None
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "fiu"):
        raise arguments.wrong_type("weights", weights, wanted)
    found = np.ascontiguousarray(numbers, dtype=np.float64)
    if by_number:
        return None, found
    if found.size > 1 << 16:
        given = f"{found.size} weights"
        raise InvalidArgument(f"weights = {given}: wanted at most 65536", name="weights", value=given, wanted=wanted)
    return np.arange(found.size, dtype=np.uint16), found


def _summed(column: Any) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:  # noqa: ANN401 (any library's column)
    weights: dict[Any, float] = {}
    for key, weight in column.items():
        plain = key.item() if hasattr(key, "item") else key
        weights[plain] = weights.get(plain, 0.0) + arguments.real("weights", weight)
    return _by_key(weights)


def advise(
    weights: Weights | None = None,
    *,
    packets: Path | NDArray[np.void] | None = None,
    handlers: HandlerSet | SupportsIndex | None = None,
    order: str = "typical",
    residual_share: float = 0.0,
    overlap: float = 0.0,
    rate: float = TARGET_PACKETS_PER_SECOND,
    adversarial: bool = False,
    worth_share: float = 0.10,
    captured_share: float = 0.80,
    probe_ns: float = 10.0,
    measure: bool = True,
    body: str = "fat",
    pool: SupportsIndex | None = None,
    key: str = "ip_protocol",
    quick: bool = False,
    seconds: float | None = None,
    precision: float | None = None,
    seed: SupportsIndex = 0,
    cpu: SupportsIndex | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Say whether to keep a list of handlers, to sort it, or to build a table, for your traffic.

    Probes are counted exactly: of the list, of the list sorted by how often each handler runs, of a table. What they
    cost is measured by a short race on that very traffic and on packets that nobody claims.

    Parameters
    ----------
    weights : path, mapping, sequence or data-frame column
        How often each key or handler is seen: a CSV file (see :func:`nanokata.weights_file.read_weights`), a mapping of
        keys or of names, a column whose index holds keys, or numbers by handler.
    packets : path or ndarray of PACKET
        Instead of weights: a pcap or pcapng file, or packets; their payloads settle residual predicates.
    handlers : HandlerSet or int, optional
        Your handlers in the order of registration; or for how many of the most frequent keys there are handlers.
        By default every key has one, up to 1,024.
    order : {"typical", "given"}
        Where handlers are made from keys: whether those stand in the order of registration, or that isn't known; then
        of 99 shuffles the one with the median of probes is taken.
    residual_share : float
        Share of the made handlers that test the payload besides the key, four to a key.
    overlap : float
        Share of keys where a general handler stands behind a specific one, so that order is behaviour.
    rate : float
        Packets a second; the budget is one second over it.
    adversarial : bool
        Whether somebody hostile may choose the packets.
    worth_share, captured_share : float
        The rule's thresholds: least share of the budget that a win must be; least share of a table's win that sorting
        must capture to be enough.
    probe_ns : float
        What a probe is taken to cost where nothing is measured.
    measure : bool
        Whether to race.
    body : {"fat", "tiny"}
        How much code the raced handlers are.
    pool : int, optional
        Most packets that the race replays; half of the L2 by default.
    key : {"ip_protocol", "destination_port"}
        Of a capture: what a packet's key is.
    quick, seconds, precision, seed, cpu, progress
        As for :func:`nanokata.run`; ``seconds`` bounds each of the two races.

    Raises
    ------
    InvalidArgument, CaptureError, WrongArray, PinningError, OSError
        Each says what was wrong, with which value, and what to do.
    """
    from nanokata import _core

    if (weights is None) == (packets is None):
        wanted = "give either weights or packets: they say what the traffic is"
        given = "both" if weights is not None else "neither"
        raise InvalidArgument(f"weights, packets: {given} given: {wanted}", name="weights", value=given, wanted=wanted)
    given_set = handlers if isinstance(handlers, _core.HandlerSet) else None
    count = None if given_set is not None else arguments.optional_whole("handlers", handlers)  # type: ignore[arg-type]
    if order not in {"typical", "given"}:
        wanted = "wanted typical or given"
        raise InvalidArgument(f"order = {order!r}: {wanted}", name="order", value=repr(order), wanted=wanted)
    keys, numbers = (None, None) if weights is None else _seen(weights, given_set is not None)
    if packets is not None and _is_path(packets):
        from nanokata.traffic import from_capture

        packets = from_capture(packets, key=key).packets  # type: ignore[arg-type]
    text = _core.advise(
        keys=keys,
        weights=numbers,
        packets=packets,
        set=given_set,
        handlers=count,
        order_given=order == "given",
        residual_share=arguments.real("residual_share", residual_share),
        overlap=arguments.real("overlap", overlap),
        body=arguments.word("body", body, "wanted fat or tiny"),
        rate=arguments.real("rate", rate),
        adversarial=bool(adversarial),
        worth_share=arguments.real("worth_share", worth_share),
        captured_share=arguments.real("captured_share", captured_share),
        probe_ns=arguments.real("probe_ns", probe_ns),
        measure=bool(measure),
        pool=arguments.optional_whole("pool", pool),
        quick=quick,
        seconds=arguments.optional_real("seconds", seconds),
        precision=arguments.optional_real("precision", precision),
        seed=arguments.whole("seed", seed),
        cpu=arguments.cpu_number(cpu),
        progress=progress,
    )
    return _advice(text)

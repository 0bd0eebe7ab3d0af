"""Arms of one's own: raced beside built-in ones if they compute the same, refused if they don't."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import nanokata as nk

SOURCE = Path(__file__).parents[2] / "src" / "plugin" / "arm" / "tests" / "plain.c"
Library = Callable[[str], Path]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return the plain loop in C with a fault, built once."""
    folder = tmp_path_factory.mktemp("arms")

    def built(fault: str) -> Path:
        output = folder / f"{fault}.so"
        if not output.exists():
            try:
                nk.plugin.build(SOURCE, output, options=[f"-DFAULT={fault}"])
            except nk.CannotBuild as refusal:
                pytest.skip(str(refusal))
        return output

    return built


@pytest.fixture(scope="module")
def handlers() -> nk.dispatch.HandlerSet:
    return nk.dispatch.HandlerSet(25, body="tiny")


@pytest.fixture(scope="module")
def packets(handlers: nk.dispatch.HandlerSet) -> np.ndarray:
    return nk.traffic.uniform(3_000, handlers, seed=5)


def test_the_right_arm_joins_a_race(library: Library, handlers: nk.dispatch.HandlerSet, packets: np.ndarray) -> None:
    mine = nk.plugin.arm(library("NONE"), handlers)
    assert mine(packets).checksum == nk.dispatch.scan(handlers)(packets).checksum
    raced = nk.race({"scan": nk.dispatch.scan(handlers), "mine": mine}, packets, quick=True, seconds=0.5)
    by_name = {arm.arm: arm for arm in raced.arms}
    assert by_name["mine"].checksum == by_name["scan"].checksum
    assert "one code layout" in by_name["mine"].flags
    assert "one code layout" not in by_name["scan"].flags


@pytest.mark.parametrize("fault", ["FORGETS_RESIDUALS", "UNSIGNED", "SKIPS_ONE"])
def test_a_faster_arm_that_computes_something_else_cannot_pass(
    fault: str, library: Library, handlers: nk.dispatch.HandlerSet, packets: np.ndarray
) -> None:
    wrong = nk.plugin.arm(library(fault), handlers)
    with pytest.raises(nk.ChecksumMismatch) as refused:
        nk.race({"scan": nk.dispatch.scan(handlers), "mine": wrong}, packets, quick=True)
    assert refused.value.arm == "mine"


@pytest.mark.parametrize(
    ("fault", "field"), [("SHORT", "struct_size"), ("FUTURE", "abi_version"), ("NO_RUN", "run"), ("NO_ARM", "create()")]
)
def test_what_is_no_arm_is_refused_by_field(
    fault: str, field: str, library: Library, handlers: nk.dispatch.HandlerSet, packets: np.ndarray
) -> None:
    with pytest.raises(nk.PluginRejected) as refused:
        nk.plugin.arm(library(fault), handlers)(packets)
    assert refused.value.field == field


def test_selections_race_among_their_like(
    library: Library, handlers: nk.dispatch.HandlerSet, packets: np.ndarray
) -> None:
    mine, built_in = nk.plugin.select(library("NONE"), handlers), nk.plugin.select("table_compact", handlers)
    assert mine(packets).checksum == built_in(packets).checksum
    raced = nk.race({"mine": mine, "table": built_in}, packets, quick=True, seconds=0.5)
    assert len({arm.checksum for arm in raced.arms}) == 1
    with pytest.raises(nk.InvalidArgument, match="selections alone or none"):
        nk.race({"mine": mine, "scan": nk.dispatch.scan(handlers)}, packets, quick=True)
    with pytest.raises(nk.ChecksumMismatch):
        lazy = nk.plugin.select(library("LAZY"), handlers)
        nk.race({"lazy": lazy, "table": built_in}, packets, quick=True)


@pytest.mark.parametrize("name", [selection.__name__ for selection in nk.dispatch.SELECTIONS])
def test_every_built_in_selection_says_the_same_alone(
    name: str, handlers: nk.dispatch.HandlerSet, packets: np.ndarray
) -> None:
    # The kata's handlers don't overlap, so that order is no behaviour.
    expected = nk.plugin.select("scan", handlers)(packets).checksum
    assert nk.plugin.select(name, handlers)(packets).checksum == expected


def test_a_callable_is_refused_and_told_what_to_do(handlers: nk.dispatch.HandlerSet, packets: np.ndarray) -> None:
    with pytest.raises(nk.WrongType, match=r"nanokata\.plugin\.arm"):
        nk.race({"scan": nk.dispatch.scan(handlers), "mine": lambda _: 0}, packets)  # type: ignore[dict-item]
    with pytest.raises(nk.WrongType):
        nk.plugin.select(7, handlers)  # type: ignore[arg-type]


def test_a_set_with_a_plugin_is_refused(library: Library, handlers: nk.dispatch.HandlerSet) -> None:
    mixed = handlers.with_plugin(nk.plugin.load(nk.plugin.shipped()["v1"]))
    for make in (lambda: nk.plugin.arm(library("NONE"), mixed), lambda: nk.plugin.select("scan", mixed)):
        with pytest.raises(nk.InvalidArgument, match="built-in handlers only"):
            make()

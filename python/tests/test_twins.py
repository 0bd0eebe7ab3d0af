"""The twins in C++: each computes what every arm does, over any handlers and packets that it has code for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nanokata as nk

TWINS = ["virtual", "erasure", "variant", "scan", "table_compact"]
Library = Callable[..., Path]


@pytest.fixture(scope="session")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Return a twin's library, built once."""
    folder = tmp_path_factory.mktemp("twins")

    def built(name: str, body: str = "TINY", *options: str) -> Path:
        output = folder / f"{name}-{body}{''.join(options)}.so"
        if not output.exists():
            source = nk.plugin.sources() / "twins" / f"{name}.cpp"
            try:
                made = nk.plugin.build(source, output, options=[f"-DTWIN_BODY=NANOKATA_BODY_{body}", *options])
            except nk.CannotBuild as refusal:
                pytest.skip(str(refusal))
            assert made.warnings == ""
        return output

    return built


residuals = st.one_of(
    st.builds(nk.dispatch.Residual.none),
    st.tuples(st.integers(0, 23), st.integers(0, 255), st.integers(0, 255)).map(
        lambda drawn: nk.dispatch.Residual.mask(drawn[0], drawn[1], drawn[2] & drawn[1])
    ),
    st.tuples(st.integers(0, 23), st.integers(0, 255), st.integers(0, 255)).map(
        lambda drawn: nk.dispatch.Residual.range(drawn[0], min(drawn[1:]), max(drawn[1:]))
    ),
    st.integers(0, 2**64 - 1).map(nk.dispatch.Residual.flow),
)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[nk.dispatch.HandlerSet, np.ndarray]:
    keys = draw(st.lists(st.integers(0, 9) | st.integers(65_000, 65_534), min_size=1, max_size=60))
    tests = draw(st.lists(residuals, min_size=len(keys), max_size=len(keys)))
    handlers = nk.dispatch.HandlerSet.from_keys(keys, tests, body="tiny")
    handlers = handlers.reordered(draw(st.permutations(range(len(keys)))))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    packets = np.zeros(draw(st.integers(2, 400)), nk.traffic.PACKET)
    packets["protocol"] = random.choice([*keys, 10, 64_999], len(packets))
    packets["flow"] = random.integers(0, 2**32, len(packets))
    packets["payload"] = random.integers(0, 256, (len(packets), 24))
    return handlers, packets


@pytest.mark.parametrize("name", TWINS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(workload=workloads())
def test_a_twin_computes_what_every_arm_does(
    name: str, workload: tuple[nk.dispatch.HandlerSet, np.ndarray], twin: Library
) -> None:
    handlers, packets = workload
    assert nk.plugin.arm(twin(name), handlers)(packets).checksum == nk.dispatch.scan(handlers)(packets).checksum


@pytest.mark.parametrize("name", ["erasure", "variant"])
def test_fat_bodies_have_the_same_values(name: str, twin: Library) -> None:
    handlers = nk.dispatch.HandlerSet(100, body="fat")
    packets = nk.traffic.uniform(5_000, handlers, seed=1)
    mine = nk.plugin.arm(twin(name, "FAT"), handlers)
    assert mine(packets).checksum == nk.dispatch.scan(handlers)(packets).checksum


def test_a_broken_twin_is_refused(twin: Library) -> None:
    handlers = nk.dispatch.HandlerSet(25, body="tiny")
    packets = nk.traffic.uniform(5_000, handlers, seed=1)
    broken = nk.plugin.arm(twin("scan", "TINY", "-DTWIN_BROKEN"), handlers)
    with pytest.raises(nk.ChecksumMismatch):
        nk.race({"scan": nk.dispatch.scan(handlers), "cpp": broken}, packets, quick=True)


@pytest.mark.parametrize("handlers", [nk.dispatch.HandlerSet(101, body="tiny"), nk.dispatch.HandlerSet(10, body="fat")])
def test_what_a_twin_has_no_code_for_is_refused(handlers: nk.dispatch.HandlerSet, twin: Library) -> None:
    with pytest.raises(nk.PluginRejected, match="can't be built for") as refused:
        nk.plugin.arm(twin("scan"), handlers)(nk.traffic.uniform(10, handlers))
    assert refused.value.field == "create()"


def test_the_experiment_races_them_in_one_process(twin: Library) -> None:
    twin("scan")  # Skips where nothing compiles C++.
    result = nk.run("plugin.twins", twin="scan", handlers=10, quick=True, seconds=0.3, pool=2_000)
    [cell] = result.cells
    assert {arm.arm: arm.role for arm in cell.arms} == {"rust": "baseline", "cpp": "arm", "rust_again": "control"}
    assert len({arm.checksum for arm in cell.arms}) == 1
    assert "one code layout" in cell["cpp"].flags
    assert cell["cpp"].margin is not None
    assert cell["cpp"].margin > cell.margin
    assert cell["rust_again"].margin == cell.margin


def test_without_a_compiler_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(nk.NotMeasurable, match=r"c\+\+"):
        nk.run("plugin.twins", twin="table_compact", compiler="system", body="fat", quick=True)

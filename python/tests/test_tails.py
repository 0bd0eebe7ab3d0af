"""Operations timed one by one: from the core's document to rows, tables and figures, and a real race with tails."""

from __future__ import annotations

import itertools

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

import nanokata as nk
from nanokata import figures
from nanokata.errors import InvalidArgument
from nanokata.figures.tail import exceeding, suits
from nanokata.results import RunResult
from nanokata.results.records import Distribution
from nanokata.results.rows import PERCENTILES

TIMES = {"scan": (400.0, 900.0), "scan_ordered": (70.0, 900.0), "table_compact": (60.0, 300.0)}


def distribution(body: float, far: float, count: int = 8192) -> dict:
    few = count // 50
    return {
        "count": count, "mean": body, "p50": body, "p90": body, "p99": far, "p999": far, "max": 9 * far,
        "histogram": [[body, count - few], [far, few - 1], [9 * far, 1]],
    }  # fmt: skip


def interval(value: float) -> dict:
    return {"estimate": value, "low": 0.95 * value, "high": 1.05 * value}


def stretch(name: str, first: int, count: int, body: float, far: float) -> dict:
    every = distribution(body, far, count * 20)
    percentiles = {name: every[name] for name in PERCENTILES}
    return {
        "name": name, "first": first, "count": count, "all": every,
        "least": distribution(0.9 * body, 0.9 * far, count), "blocks": [percentiles] * 20,
        "typical": {"p50": interval(body), "p90": interval(body), "p99": interval(far), "p999": None},
    }  # fmt: skip


def tail(body: float, far: float, *, shifted: float, parts: bool = True) -> dict:
    halves = [stretch("before", 0, 4096, body, far), stretch("after", 4096, 4096, shifted, 1.2 * shifted)]
    return {
        "floor": {"p50": 30.0, "p90": 30.0, "p99": 30.0, "p999": None, "max": 5e4}, "tick_ns": 10.0,
        "placements": 20, "replays": 1, "whole": stretch("whole", 0, 8192, body, far),
        "parts": halves if parts else [],
        "course": [{"first": 512 * at, "count": 512, "mean": body, "max": far} for at in range(16)],
        "disturbed": {"turns": 3, "involuntary_switches": 3, "migrations": 0, "page_faults": 0, "backwards": 0},
    }  # fmt: skip


def cell(shift: str = "adversary", *, parts: bool = True, **changes) -> dict:
    arms = []
    for name, (body, far) in TIMES.items():
        shifted = 700.0 if name.startswith("scan") and shift == "adversary" else body
        timed = tail(body, far, shifted=shifted, parts=parts)
        arms.append(
            synthetic.arm(
                name,
                body,
                baseline=None if name == "scan" else 400.0,
                against="" if name == "scan" else "scan",
                tail=timed,
            )
        )
    again = synthetic.arm(
        "table_compact_again", 60.0, baseline=60.0, role="control", against="table_compact",
        tail=tail(60.0, 300.0, shifted=60.0, parts=parts),
    )  # fmt: skip
    return synthetic.cell([*arms, again], {"shift": shift, "handlers": 100, "traffic": "skewed"}, **changes)


def result(*cells: dict) -> RunResult:
    return RunResult(synthetic.document(synthetic.report("dispatch.tail", list(cells))))


BOTH = result(cell("none"), cell())


def test_rows_have_percentiles_where_operations_were_timed_and_nothing_elsewhere():
    for row, (body, far) in zip(BOTH.rows(), TIMES.values(), strict=False):
        assert [row[name] for name in PERCENTILES] == [body, body, far, far, 9 * far]
    frame = BOTH.to_pandas()
    assert frame["p99"].notna().all()
    for row in RunResult(synthetic.selection()).rows():
        assert [row[name] for name in PERCENTILES] == [None] * 5


def test_a_document_survives_a_round_trip():
    again = RunResult.from_json(BOTH.to_json())
    assert again.report == BOTH.report
    found = again.cells[1]["scan"].tail
    assert found is not None
    assert found.floor.p999 is None
    assert [part.name for part in found.stretches()] == ["before", "after"]


def test_the_table_says_what_the_figures_are_and_shows_the_floor():
    text = BOTH.summary()
    assert text.count("timer alone") == 4 + 1
    for words in ("latency in isolation", "whatever interrupted", "least of 20 times", "shift adversary, after"):
        assert words in " ".join(text.split()), words
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "timer alone" not in RunResult(synthetic.selection()).summary()


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize("reason", [None, "control:table_compact_again: 3 % off"])
def test_every_stretch_has_a_panel_and_below_them_the_course(parts, reason, tmp_path):
    status = {} if reason is None else {"status": "no_verdict", "reason": reason}
    made = result(cell(parts=parts, **status))
    assert suits(made)
    figure = made.plot()
    figure.savefig(tmp_path / "tail.png")
    *upper, course = figure.axes
    assert len(upper) == (2 if parts else 1)
    for panel in upper:
        assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    legend = [text.get_text() for text in upper[-1].get_legend().get_texts()]
    wanted = [*TIMES] if reason is None else [*TIMES, "void: control:table_compact_again"]
    assert legend == wanted
    assert {text.get_text() for text in course.texts} == set(TIMES)
    assert {"timer alone", "budget, 333 ns"} <= {text.get_text() for text in upper[-1].texts}


def test_bars_are_the_intervals():
    before, _, _ = figures.tail(BOTH).axes
    drawn = {
        tuple(segment[:, 0].tolist())
        for container in before.containers
        for bar in container[2]
        for segment in bar.get_segments()
    }
    assert sorted(drawn) == [pytest.approx((0.95 * far, 1.05 * far)) for far in (300.0, 900.0)]


def test_a_given_axes_gets_the_last_part():
    from matplotlib.figure import Figure

    figure = Figure()
    ax = figure.add_subplot()
    assert figures.tail(BOTH, ax=ax) is figure
    assert ax.get_title(loc="left").startswith("after")


def test_a_result_without_single_operations_is_refused_by_the_figure_and_drawn_otherwise():
    plain = RunResult(synthetic.selection())
    assert not suits(plain)
    with pytest.raises(InvalidArgument, match="one by one"):
        figures.tail(plain)
    without = cell()
    for arm in without["arms"]:
        arm["tail"] = None
    assert result(without).plot().axes


@given(st.lists(st.tuples(st.floats(1, 1e6), st.integers(1, 1000)), min_size=1, max_size=40))
def test_shares_fall_from_everything_and_agree_with_counting(items):
    histogram = sorted(dict(items).items())
    count = sum(many for _, many in histogram)
    made = Distribution(count, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, tuple((time, float(many)) for time, many in histogram))
    times, shares = exceeding(made)
    assert shares[0] == 1.0
    assert all(later < earlier for earlier, later in itertools.pairwise(shares))
    for time, share in zip(times, shares, strict=True):
        assert share == pytest.approx(sum(many for at, many in histogram if at >= time) / count)


@pytest.mark.parametrize("name", ["timer-floor", "tsc-invariant"])
def test_a_timer_that_cannot_be_trusted_leaves_no_verdict(name):
    spoilt = result(cell(checks=[synthetic.check(name, "failed", "30 of 40 ns")]))
    assert spoilt.exit_code == 3
    missing = result(cell(checks=[synthetic.check("operations-timed", "failed", "1 short")]))
    assert missing.exit_code == 1


def test_any_race_can_have_tails(handlers, packets):
    arms = [nk.dispatch.scan(handlers), nk.dispatch.table_compact(handlers)]
    try:
        raced = nk.race(arms, packets, quick=True, seconds=0.3, tails=True)
    except nk.NotMeasurable as busy:
        assert "undisturbed" in str(busy)  # noqa: PT017 (the machine may be too busy to race at all)
        return
    checks = {check.name: check for check in raced.checks}
    if checks["operations-timed"].outcome == "not_applicable":
        assert "counter" in checks["operations-timed"].detail
        return
    for arm in raced.arms:
        assert arm.tail is not None
        every = arm.tail.whole.all
        assert every.count == 4096 * arm.tail.placements * arm.tail.replays
        assert sum(int(count) for _, count in every.histogram) == every.count
        assert every.p50 <= every.p90 <= every.p99 <= every.p999 <= every.max
        assert arm.tail.whole.least.p99 <= every.p99
    assert all(row["p99"] for row in raced.rows())
    assert raced.plot().axes
    assert figures.tail(raced).axes


@pytest.mark.parametrize("wrong", [1, "yes", None])
def test_tails_is_a_flag(handlers, packets, wrong):
    with pytest.raises(nk.InvalidArgument, match="tails"):
        nk.race([nk.dispatch.scan(handlers)] * 2, packets, tails=wrong)

"""Mechanisms and proposals: the wheel's own machine code, what is refused, and the figures."""

from __future__ import annotations

import platform
import sys

import pytest
import synthetic

import nanokata as nk
from nanokata import catalogue, figures
from nanokata.dispatch import MECHANISMS, PROPOSALS, HandlerSet
from nanokata.errors import InvalidArgument
from nanokata.results import RunResult

decoded = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="only x86-64 code of Linux is decoded"
)


@pytest.mark.parametrize("make", [*MECHANISMS[1:], *PROPOSALS], ids=lambda make: make.__name__)
@pytest.mark.parametrize(("count", "body"), [(10, "tiny"), (100, "fat")])
def test_all_compute_the_same(make, count, body):
    handlers = HandlerSet(count, body=body)
    packets = nk.traffic.uniform(2000, handlers, unmatched=0.1, seed=3)
    arm = make(handlers)
    assert arm(packets).checksum == nk.dispatch.dyn_trait(handlers)(packets).checksum
    assert arm.name == make.__name__
    assert arm.help


def test_every_arm_of_the_catalogue_is_callable():
    by_name = {make.__name__ for make in (*MECHANISMS, *PROPOSALS, *nk.dispatch.SELECTIONS)}
    for experiment in ("dispatch.mechanism", "dispatch.proposals"):
        arms = {arm.name for arm in catalogue.find(experiment).arms}
        assert {arm for arm in arms if not arm.endswith("_again")} <= by_name


@pytest.mark.parametrize(
    ("make", "handlers", "part"),
    [
        (nk.dispatch.static_match, HandlerSet(30), "not for 30"),
        (nk.dispatch.static_inlined, HandlerSet(1024), "not for 1024"),
        (nk.dispatch.static_match, HandlerSet(100, residual_share=0.5), "came at run time"),
        (nk.dispatch.static_match, HandlerSet(100, body="identical"), "identical"),
        (nk.dispatch.scan_static, HandlerSet(11), "not for 11"),
        (nk.dispatch.scan_static_keys, HandlerSet.from_keys(range(10)), "came at run time"),
    ],
)
def test_what_was_not_known_when_compiled_is_refused(make, handlers, part):
    with pytest.raises(InvalidArgument, match=part) as caught:
        make(handlers)
    assert make.__name__ in str(caught.value)


def _code(handlers):
    return {found.arm: found for found in nk.dispatch.code(handlers)}


@decoded
@pytest.mark.parametrize("body", ["fat", "tiny"])
def test_loads_before_the_call_are_those_of_the_layout(body):
    loads = {arm: found.loads for arm, found in _code(HandlerSet(100, body=body)).items() if found.loads is not None}
    assert loads == {
        "direct": 0,
        "erased": 1,
        "static_match": 1,
        "static_inlined": 1,
        "dyn_trait": 2,
        "thin": 3,
        "enum_match": 3,
    }


@decoded
@pytest.mark.parametrize("body", ["fat", "tiny"])
@pytest.mark.parametrize("count", [10, 100, 1024])
def test_a_closed_sum_is_a_jump_table_to_bodies_of_their_own(count, body):
    code = _code(HandlerSet(count, body=body))
    closed, static = code["enum_match"], code["static_match"]
    assert (closed.bodies, closed.jump_tables, closed.indirect_calls) == (count, 1, 0)
    assert (static.bodies, static.indirect_calls) == (count, 0)
    assert closed.body_bytes == static.body_bytes == code["dyn_trait"].body_bytes


@decoded
def test_one_body_for_all_is_seen_as_one():
    code = _code(HandlerSet(100, body="identical"))
    assert {code[arm].bodies for arm in ("dyn_trait", "thin", "erased", "enum_match")} == {1}
    assert "static_match" not in code


@decoded
def test_inlined_bodies_lie_inside_the_arm():
    fat, tiny = (_code(HandlerSet(100, body=body))["static_inlined"] for body in ("fat", "tiny"))
    for found in (fat, tiny):
        assert found.body_bytes == 0
        assert 1 <= found.bodies <= 100
    assert (fat.loop_copies, tiny.loop_copies) == (1, 8)


def _mechanisms(**changes):
    costs = {"direct": 2.6, "dyn_trait": 2.9, "thin": 2.9, "erased": 2.7, "enum_match": 3.2}
    cells = []
    for body, work in (("tiny", 0.0), ("fat", 27.0)):
        for law, gap in (("hot", 0.0), ("uniform", 10.0)):
            arms = [
                synthetic.arm(
                    name,
                    cost + work + (0.0 if name == "direct" else gap),
                    **({} if name == "direct" else {"baseline": 2.6 + work, "against": "direct"}),
                )
                for name, cost in costs.items()
            ]
            parameters = {"handlers": 100, "body": body, "traffic": law}
            cells.append(synthetic.cell(arms, parameters, **changes))
    return RunResult(synthetic.document(synthetic.report("dispatch.mechanism", cells)))


def test_mechanisms_have_a_panel_a_body_and_a_row_an_arm(tmp_path):
    result = _mechanisms()
    figure = result.plot()
    figure.savefig(tmp_path / "figure.png")
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["tiny bodies", "fat bodies"]
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["direct", "dyn_trait", "thin", "erased", "enum_match"]
    assert all(ax.get_xlabel() == "ns/packet" for ax in figure.axes)
    (legend,) = figure.legends
    assert any("published" in text.get_text() for text in legend.get_texts())
    assert any(text.startswith("thin, tiny bodies, mixed, 10.24") for text in figures.published(result))


def test_void_mechanisms_are_hollow_and_the_legend_says_why():
    figure = _mechanisms(status="no_verdict", reason="quiet: it wasn't").plot()
    marks = [container[0] for ax in figure.axes for container in ax.containers]
    assert marks
    assert all(mark.get_markerfacecolor() == "white" for mark in marks)
    assert any("void: quiet" in text.get_text() for text in figure.legends[0].get_texts())


def _proposals(*, void=False):
    names = ["scan", "scan_erased", "scan_static", "table_compact"]
    cells, contrasts = [], []
    for handlers in (10, 25, 50, 100):
        costs = dict(zip(names, (4.0 * handlers, 3.9 * handlers, 30 + 0.4 * handlers, 40.0), strict=True))
        arms = [
            synthetic.arm(name, cost, **({} if name == "scan" else {"baseline": costs["scan"], "against": "scan"}))
            for name, cost in costs.items()
        ]
        changes = {"status": "no_verdict", "reason": "quiet: no"} if void else {}
        parameters = {"handlers": handlers, "body": "fat", "traffic": "uniform"}
        cells.append(synthetic.cell(arms, parameters, **changes))
        contrasts += [
            synthetic.contrast(f"gain:{name}:{handlers}", f"gained by {name}", costs["scan"] - cost, void=void)
            for name, cost in costs.items()
            if name != "scan"
        ]
    return RunResult(synthetic.document(synthetic.report("dispatch.proposals", cells, contrasts=contrasts)))


def test_proposals_are_drawn_with_the_table_beside_and_what_each_gains(tmp_path):
    result = _proposals()
    figure = result.plot()
    figure.savefig(tmp_path / "figure.png")
    left, right = figure.axes
    assert {text.get_text() for text in left.texts} == {"scan", "scan_erased", "scan_static", "table_compact"}
    assert {text.get_text() for text in right.texts} == {"scan_erased", "scan_static", "table_compact"}
    assert len(right.containers) == 3
    assert any(text.startswith("scan at 100 handlers, 142.8") for text in figures.published(result))


def test_void_gains_are_hollow():
    right = _proposals(void=True).plot().axes[1]
    hollow = [line for line in right.lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 3

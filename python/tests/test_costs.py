"""Figures of what things cost: the budget, residual lists, distributions, the neighbour."""

from __future__ import annotations

import matplotlib as mpl
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import nanokata as nk
from nanokata.figures import calibration, distribution, neighbour, published, residual
from nanokata.results import RunResult

COSTS = {"load_l1": 1.1, "load_dram": 110.0, "branch_predicted": 0.4, "branch_random": 3.3, "system_call": 130.0}
EXPERIMENTS = (
    "dispatch.calibration",
    "dispatch.residual",
    "dispatch.distribution",
    "dispatch.neighbour",
)


def fact(name, value, *, text="a sentence", unit="", origin="computed"):
    return {"name": name, "text": text, "value": value, "unit": unit, "origin": origin}


def budget_report(miss=5.8, half=0.5):
    cells = []
    for operation, cost in COSTS.items():
        arms = [
            synthetic.arm("sixteen_adds", 4.3),
            synthetic.arm("operation", cost, baseline=4.3, against="sixteen_adds"),
            synthetic.arm("operation_again", cost, baseline=cost, against="operation", role="control"),
        ]
        cells.append(synthetic.cell(arms, {"operation": operation, "rate": 3e6}, unit="ns/operation"))
    missed = synthetic.contrast("branch-miss", "a mispredicted branch", miss, half, unit="ns/operation")
    return synthetic.report("dispatch.calibration", cells, contrasts=[missed])


def residual_report(void=False):
    cells = []
    for length in (2, 100):
        for share in (0.0, 0.5, 1.0):
            table, tests = 40 + share * length * 4, 1 + share * length / 2
            arms = [
                synthetic.arm("scan_ordered", 150 + 180 * share, probes=18 + 28 * share),
                synthetic.arm("scan_keys", 70 + 3 * table * share, baseline=150.0, against="scan_ordered", probes=40.0),
                synthetic.arm("table_compact", table, baseline=150.0, against="scan_ordered", probes=tests),
                synthetic.arm("table_compact_again", table, baseline=table, against="table_compact", role="control"),
            ]  # fmt: skip
            status = {"status": "no_verdict", "reason": "quiet: 3 rounds"} if void else {}
            cells.append(synthetic.cell(arms, {"residual_share": share, "list_length": length}, **status))
    facts = [
        fact("crossing:scan_ordered:2", None),
        fact("crossing:scan_ordered:100", 0.83, unit="residual share"),
        fact("crossing-probes:scan_ordered:100", 0.92, unit="residual share"),
    ]
    return synthetic.report("dispatch.residual", cells, facts=facts)


def distribution_report(permutations=4):
    cells, contrasts = [], []
    for traffic, shares in (("uniform", [0.01]), ("skewed", [0.58 + 0.1 * at for at in range(permutations)])):
        parameters = {"traffic": traffic, "handlers": 100}
        names = ("scan", "scan_keys", "scan_ordered", "scan_transpose", "table_compact")
        whole = [
            synthetic.arm(name, cost, baseline=None if name == "scan" else 300.0, against="scan", probes=cost / 6)
            for name, cost in zip(names, (300.0, 70.0, 90.0, 110.0, 40.0), strict=True)
        ]
        cells.append(synthetic.cell(whole, {**parameters, "selections": "all", "permutation": 0}))
        if len(shares) == 1:
            contrasts.append(synthetic.contrast(f"captured:{traffic}", "share", shares[0], 0.01, unit="share"))
            continue
        for permutation, share in enumerate(shares):
            sorted_cost = 300 - share * 260
            three = [
                synthetic.arm("scan", 300.0, probes=50.0),
                synthetic.arm("scan_ordered", sorted_cost, baseline=300.0, against="scan", probes=50 - 49 * share),
                synthetic.arm("table_compact", 40.0, baseline=300.0, against="scan", probes=1.0),
            ]
            cells.append(synthetic.cell(three, {**parameters, "selections": "sorting", "permutation": permutation}))
            name = f"captured:{traffic}:{permutation}"
            contrasts.append(synthetic.contrast(name, "share", share, 0.01, unit="share"))
        contrasts.append(synthetic.contrast(f"captured:{traffic}", "median", sorted(shares)[len(shares) // 2], 0.1))
    facts = [fact("published:skewed", 0.94, unit="share", origin="published")]
    return synthetic.report("dispatch.distribution", cells, contrasts=contrasts, facts=facts)


def neighbour_report(places=("same_core", "other_core")):
    cells = []
    for place in places:
        for keys in ("kata", "spread", "random"):
            names = ("table_compact", "table_direct16", "hash_map", "null", "nobody")
            costs = (5.7, 7.6 if keys == "random" else 5.7, 5.9, 5.8, 5.1)
            arms = [
                synthetic.arm(f"beside_{name}", cost, baseline=None if name == "table_compact" else 5.7)
                for name, cost in zip(names, costs, strict=True)
            ]
            parameters = {"place": place, "keys": keys, "working_set": 524288}
            cells.append(synthetic.cell(arms, parameters, unit="ns/load"))
    return synthetic.report("dispatch.neighbour", cells)


def drawn(report):
    return RunResult(synthetic.document(report))


RESULTS = [drawn(report()) for report in (budget_report, residual_report, distribution_report, neighbour_report)]
OWN = {"dispatch.calibration": calibration.calibration, "dispatch.residual": residual.residual,
       "dispatch.distribution": distribution.distribution, "dispatch.neighbour": neighbour.neighbour}  # fmt: skip


@pytest.mark.parametrize("result", RESULTS, ids=EXPERIMENTS)
def test_each_has_a_figure_of_its_own_that_leaves_settings_alone(result, tmp_path):
    before = dict(mpl.rcParams)
    result.plot().savefig(tmp_path / "figure.png")
    assert dict(mpl.rcParams) == before
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    ax = Figure().add_subplot()
    assert OWN[result.experiment](result, ax=ax) is ax.get_figure()
    assert ax.lines or ax.containers


@pytest.mark.parametrize("result", RESULTS, ids=EXPERIMENTS)
def test_another_parameter_that_varies_is_not_theirs_to_draw(result):
    document = synthetic.document({**result._document["report"]})
    cells = document["report"]["cells"]
    document["report"]["cells"] = [
        {**cell, "parameters": {**cell["parameters"], "body": "fat" if at else "tiny"}} for at, cell in enumerate(cells)
    ]
    other = RunResult(document)
    module = {"calibration": calibration, "residual": residual, "distribution": distribution, "neighbour": neighbour}
    assert module[result.experiment.partition(".")[2]].suits(result)
    assert not module[result.experiment.partition(".")[2]].suits(other)
    assert other.plot() is not None


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_the_budget_says_how_many_of_each_fill_it_and_what_a_misprediction_costs():
    figure = RESULTS[0].plot()
    (ax,) = figure.axes
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["branch predicted", "load L1", "branch random", "branch mispredicted", "load DRAM", "system call"]
    assert f"{1e9 / 3e6 / 1.1:,.0f}" in texts(figure)
    assert "3.0" in texts(figure)


@given(st.floats(-50, 50), st.floats(0, 100))
def test_a_misprediction_that_reads_nothing_breaks_no_figure(miss, half):
    drawn(budget_report(miss, half)).plot().canvas.draw()


def test_crossings_are_marked_where_there_are_any():
    marks = [text for text in texts(RESULTS[1].plot()) if text.startswith("crosses")]
    assert marks == ["crosses\nnear 0.83", "crosses\nnear 0.92"]
    void = drawn(residual_report(void=True)).plot()
    assert [text.get_text() for text in void.axes[0].get_legend().get_texts()] == ["void: quiet"]


def test_the_spread_is_written_with_the_published_share_beside_it():
    result = RESULTS[2]
    figure = result.plot()
    assert "78 % (58–88)" in texts(figure)
    legends = [
        text.get_text() for ax in figure.axes for text in (ax.get_legend().get_texts() if ax.get_legend() else ())
    ]
    assert "published kata,\ni9-13980HX" in legends
    assert "in probes (exact)" in legends
    (said,) = published(result)
    assert said.startswith("skewed: sorting captures 94 %")


def test_a_machine_with_one_core_has_one_panel():
    figure = drawn(neighbour_report(places=("same_core",))).plot()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["same core"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_they_are_in_the_catalogue_with_help_for_every_parameter(name):
    experiment = next(item for item in nk.experiments() if item.id == name)
    assert all(parameter.help for parameter in experiment.parameters)
    assert len(experiment.about) > 200

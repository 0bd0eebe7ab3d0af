"""No sentence may survive swapping the numbers that it speaks of."""

from __future__ import annotations

import re

import pytest
import synthetic

from nanokata.results import RaceResult, RunResult


def race_of(costs, **changes):
    baseline = costs["a"]
    arms = [
        synthetic.arm(name, cost, baseline=None if name == "a" else baseline, against="" if name == "a" else "a")
        for name, cost in costs.items()
    ]
    cell = synthetic.cell(arms, {"handlers": 10}, **changes)
    return RaceResult(synthetic.document(synthetic.report("race", [cell])))


def line_of(summary, arm):
    return next(line for line in summary.splitlines() if line.startswith(f"{arm} "))


def test_swapped_costs_swap_the_verdict():
    summary, swapped = (race_of(costs).summary() for costs in ({"a": 100.0, "b": 50.0}, {"a": 50.0, "b": 100.0}))
    assert "2.00× faster" in line_of(summary, "b")
    assert "2.00× slower" in line_of(swapped, "b")
    assert not re.search("slower", summary)
    assert not re.search("faster", swapped)


@pytest.mark.parametrize(("cost", "word"), [(100.0, "same"), (100.4, "not resolved"), (101.0, "slower")])
def test_the_margin_decides_between_same_and_not_resolved(cost, word):
    assert word in line_of(race_of({"a": 100.0, "b": cost}).summary(), "b")


def test_the_budget_share_follows_the_cost():
    assert "100 %" in line_of(race_of({"a": 1e9 / 3e6, "b": 50.0}).summary(), "a")
    assert "30 %" in line_of(race_of({"a": 100.0, "b": 50.0}).summary(), "a")


def test_the_conclusion_names_the_check_that_failed():
    summary = race_of({"a": 100.0, "b": 50.0}, checks=[synthetic.check("pool-in-cache", "failed", "2 MiB")]).summary()
    assert "A check failed (pool-in-cache)" in summary
    assert "failed pool-in-cache: 2 MiB" in summary
    assert "All checks held" not in summary


def test_races_without_a_verdict_say_why_and_advise_more_time():
    summary = race_of({"a": 100.0, "b": 100.4}, status="no_verdict", reason="too much noise").summary()
    assert "No verdict: too much noise" in summary
    assert "--seconds" in summary


def test_a_missing_doctor_is_said():
    document = synthetic.selection()
    document["doctor"] = None
    assert "not asked on this machine" in RunResult(document).summary()


def test_what_follows_stands_in_cost_and_budget():
    document = synthetic.selection()
    document["report"]["contrasts"] = [synthetic.contrast("calling", "calling it", 1e9 / 3e6 / 4)]
    line = next(line for line in RunResult(document).summary().splitlines() if line.startswith("calling it"))
    assert "83.3" in line
    assert line.endswith("25 %")


def summed_up(finding, calling, **changes):
    """The last sentences of a run whose search and call cost that much, as (value, low, high)."""
    document = synthetic.selection()
    contrasts = {"finding:fat:100": finding, "finding:tiny:100": (7.0, 6.0, 8.0), "finding:fat:10": (1.0, 0.5, 1.5)}
    document["report"]["contrasts"] = [
        {**synthetic.contrast(name, "", value), "low": low, "high": high}
        for name, (value, low, high) in {
            **contrasts,
            "calling:hot": (0.1, 0.0, 0.2),
            "calling:uniform": calling,
        }.items()
    ]
    document["report"].update(changes)
    return " ".join(RunResult(document).summary().split())


def test_finding_and_calling_are_set_side_by_side():
    search = summed_up((500.0, 490.0, 510.0), (8.0, 7.0, 9.0))
    assert (
        "Finding one of 100 handlers (fat bodies) by a scan instead of a table costs 500.0 ns, 150 % of the budget"
        in search
    )
    assert "costs 8.00 ns, 2.4 % of the budget. The search costs 54× to 73× what the call does." in search
    assert "Here the call costs more" in summed_up((8.0, 7.0, 9.0), (500.0, 490.0, 510.0))
    assert "is not resolved here" in summed_up((8.0, 6.0, 10.0), (7.0, 5.0, 9.0))
    assert "can't be told from nothing" in summed_up((500.0, 490.0, 510.0), (0.1, -0.1, 0.3))


def test_nothing_is_summed_up_where_a_check_failed():
    failed = summed_up((500.0, 490.0, 510.0), (8.0, 7.0, 9.0), checks=[synthetic.check("bodies-distinct", "failed")])
    assert "The search costs" not in failed


def test_flags_are_shown_with_their_arms():
    cell = synthetic.selection_cell(100)
    cell["arms"][1]["flags"] = ["one code layout"]
    result = RaceResult(synthetic.document(synthetic.report("race", [cell])))
    assert "one code layout: scan_keys" in result.summary()
    assert (
        "one code layout"
        not in RaceResult(synthetic.document(synthetic.report("race", [synthetic.selection_cell(100)]))).summary()
    )


def test_a_wide_control_says_what_differences_it_bears_out():
    costs = {"a": 100.0, "b": 50.0}
    assert "beyond ±2.00 % only" in race_of(costs, resolvable_margin=0.02).summary()
    assert "beyond" not in race_of(costs).summary()


def series_of(arms, races):
    made = [synthetic.selection_cell(10 * (number + 1), resolvable_margin=0.02) for number in range(races)]
    for cell in made:
        cell["arms"] = cell["arms"][:arms]
    return synthetic.report("dispatch.selection", made)


@pytest.mark.parametrize(("arms", "races", "layout"), [(9, 2, "verdicts"), (3, 6, "series")])
def test_every_layout_names_the_wider_margin(arms, races, layout):
    document = synthetic.document(series_of(arms, races))
    summary = RunResult(document).summary()
    assert summary.count("beyond ±2.00 % only") == (1 if layout == "series" else races)


def test_races_side_by_side_name_the_wider_margin():
    document = synthetic.selection()
    for cell in document["report"]["cells"]:
        if cell["parameters"]["body"] == "tiny":
            cell["resolvable_margin"] = 0.031
    summary = RunResult(document).summary()
    assert "± half an interval" in summary
    assert summary.count("beyond ±3.10 % only") == 1


def test_the_conclusion_counts_what_was_not_applicable():
    absent = synthetic.check("pool-fits-l2", "not_applicable", "no L2 known")
    wide = synthetic.check("control:b", "not_applicable", "too wide to say")
    assert "No check failed; 2 not applicable." in race_of({"a": 100.0, "b": 50.0}, checks=[absent, absent]).summary()
    summary = race_of({"a": 100.0, "b": 50.0}, checks=[wide, absent]).summary()
    assert "Checks: 0 held, 0 failed, 1 inconclusive, 1 not applicable" in summary
    assert "inconclusive control:b: too wide to say" in summary
    assert "No check failed; 1 inconclusive, 1 not applicable." in summary
    assert "All checks held." in race_of({"a": 100.0, "b": 50.0}, checks=[synthetic.check("tick")]).summary()
    assert "Nothing was checked." in race_of({"a": 100.0, "b": 50.0}).summary()


def test_a_noisy_machine_isnt_named_as_a_failed_check():
    checks = [synthetic.check("quiet", "failed"), synthetic.check("bodies-distinct", "failed")]
    summary = race_of({"a": 100.0, "b": 50.0}, checks=checks, status="no_verdict", reason="noise").summary()
    assert "A check failed (bodies-distinct):" in summary


def race_without_intervals():
    cell = synthetic.selection_cell(100, half_width=None, resolvable_margin=None, ended="time_bound")
    for arm in cell["arms"]:
        arm.update(low=None, high=None, ratio_low=None, ratio_high=None)
    return RaceResult(synthetic.document(synthetic.report("race", [cell])))


def test_missing_intervals_are_said():
    summary = race_without_intervals().summary()
    assert line_of(summary, "scan_keys").endswith("too few blocks")
    assert "too few blocks for an interval of the ratios" in summary
    alone = synthetic.cell([synthetic.arm("a", 9.0, low=None, high=None)], {"handlers": 10}, half_width=None)
    assert "too few blocks" in line_of(RaceResult(synthetic.document(synthetic.report("x", [alone]))).summary(), "a")
    assert "±" not in summary.partition("arm ")[2]


def test_void_races_and_figures_are_marked_and_lose_their_budget():
    reason = "control:b: 3 % off"
    costs = {"a": 100.0, "b": 50.0}
    lines = race_of(costs, status="no_verdict", reason=reason).summary().splitlines()
    row = next(index for index, line in enumerate(lines) if line.startswith("b "))
    assert lines[row].endswith("void")
    assert lines[row + 1] == f"no verdict: {reason}"
    assert not any("30 %" in line for line in lines)
    document = synthetic.selection()
    document["report"]["contrasts"] = [synthetic.contrast("calling", "calling it", 83.3, void=True)]
    assert line_of(RunResult(document).summary(), "calling").endswith("void")


def test_void_columns_are_marked_side_by_side():
    document = synthetic.selection()
    cell = next(cell for cell in document["report"]["cells"] if cell["parameters"]["body"] == "tiny")
    cell.update(status="no_verdict", reason="noise")
    summary = RunResult(document).summary()
    assert "void (handlers 10, body tiny): noise" in summary
    assert line_of(summary, "ns/packet").split()[1] == "void"


def test_races_that_ended_differently_are_counted():
    cells = [synthetic.selection_cell(10 * n, ended="precision" if n < 4 else "time_bound") for n in range(1, 9)]
    for cell in cells:
        cell["arms"] = cell["arms"][:2]
    summary = " ".join(RunResult(synthetic.document(synthetic.report("x", cells))).summary().split())
    assert "3 of 8 reached the precision, time was up for 5" in summary
    for cell in cells:
        cell["arms"] = cell["arms"][:1]
    assert "ratios to" not in RunResult(synthetic.document(synthetic.report("x", cells))).summary()


def test_how_wide_same_is_stands_below_the_table_once():
    cell = synthetic.cell(
        [synthetic.arm("a", 9.0), synthetic.arm("b", 9.0, baseline=9.0, against="a", words="same as a (within 0.5 %)")],
        {"handlers": 10},
    )
    summary = RaceResult(synthetic.document(synthetic.report("race", [cell]))).summary()
    assert line_of(summary, "b").endswith("same")
    assert summary.count("within") == 1
    assert "same: within ±0.5 %" in summary


LAW_PARAMETERS = {"exponent": 1.1, "share": 0.95, "top": 2, "period": 4, "unmatched": 0.02, "key": "ip_protocol"}


@pytest.mark.parametrize(
    ("traffic", "own"),
    [
        ("uniform", {"unmatched"}),
        ("zipf", {"exponent", "unmatched"}),
        ("skewed", {"share", "top", "unmatched"}),
        ("periodic", {"period", "unmatched"}),
        ("some.pcap", {"key"}),
    ],
)
def test_only_parameters_that_apply_are_listed(traffic, own):
    document = synthetic.selection()
    for cell in document["report"]["cells"]:
        cell["parameters"].update(LAW_PARAMETERS, traffic=traffic)
    summary = RunResult(document).summary()
    (line,) = [line for line in summary.splitlines() if line.startswith(f"traffic {traffic}, pool")]
    assert {name for name in LAW_PARAMETERS if f"{name} " in line} == own


def test_arms_that_start_cold_are_named_below_their_table():
    cell = synthetic.selection_cell(100)
    for arm, ratio in zip(cell["arms"], (14.2, 1.6, *[1.0] * 8), strict=False):
        arm["cold_ratio"] = ratio
    document = synthetic.document(synthetic.report("race", [cell]))
    summary = " ".join(RaceResult(document).summary().split())
    assert "first rep after a build, against the median: scan 14×, scan_keys 1.6×" in summary
    for arm in cell["arms"]:
        arm["cold_ratio"] = 1.02
    assert "first rep" not in RaceResult(document).summary()

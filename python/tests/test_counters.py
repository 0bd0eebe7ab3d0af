"""Which counters a race reads, and why some of them aren't there."""

from __future__ import annotations

import pytest
import synthetic

import nanokata as nk
from nanokata.results import RaceResult

KNOWN = {
    "cycles",
    "instructions",
    "l1i_misses",
    "branch_misses",
    "branches",
    "l1d_misses",
    "ll_misses",
    "context_switches",
    "page_faults",
    "cpu_migrations",
    "task_clock",
}


@pytest.fixture(scope="module")
def raced():
    handlers = nk.dispatch.HandlerSet(5, body="tiny")
    packets = nk.traffic.uniform(5000, handlers)
    arms = {"scan": nk.dispatch.scan(handlers), "table": nk.dispatch.table_compact(handlers)}

    def race(**options):
        try:
            return nk.race(arms, packets, quick=True, seconds=0.1, **options)
        except nk.NotMeasurable as busy:
            pytest.skip(str(busy))

    return race


def test_every_counter_has_a_value_or_a_reason(raced):
    counted = raced().counted()
    assert {row["counter"] for row in counted} == KNOWN
    assert {row["arm"] for row in counted} == {"scan", "table"}
    for row in counted:
        assert (row["per_operation"] is None) <= bool(row["note"]), row


def test_counters_are_chosen_by_name(raced):
    assert [row["counter"] for row in raced(counters=["page_faults", "cycles"]).counted()] == [
        "cycles",
        "page_faults",
    ] * 2
    assert {row["counter"] for row in raced(counters="instructions").counted()} == {"instructions"}
    assert raced(counters=False).counted() == []


@pytest.mark.parametrize(
    ("counters", "message"),
    [
        (["instructons"], "did you mean instructions"),
        (["cycles", "zzz"], "there are cycles"),
        ([], r"counters = \[\]"),
        (7, "counters = 7"),
        ([7], "counters = 7"),
    ],
)
def test_unknown_counters_are_refused_with_the_nearest(raced, counters, message):
    with pytest.raises(nk.InvalidArgument, match=message):
        raced(counters=counters)
    with pytest.raises(nk.InvalidArgument, match=message):
        nk.run("dispatch.mechanism", counters=counters)


def of(counters):
    cell = synthetic.selection_cell(100)
    for arm in cell["arms"]:
        arm["counters"] = [
            {"name": name, "per_operation": value, "note": None if value is not None else "EACCES: no"}
            for name, value in counters.items()
        ]
    return RaceResult(synthetic.document(synthetic.report("race", [cell])))


def test_what_is_not_counted_says_why_once():
    result = of({"cycles": None, "instructions": None, "page_faults": 0.0})
    summary = " ".join(result.summary().split())
    assert summary.count("not counted: cycles, instructions (EACCES: no)") == 1
    assert "page faults" not in summary
    assert "not counted" not in of({"cycles": 12.0}).summary()


def test_software_events_are_shown_where_nothing_else_was_asked_for():
    assert "2.50 page faults" in of({"page_faults": 2.5}).summary()
    assert "page faults" not in of({"page_faults": 2.5, "cycles": 10.0}).summary()


def test_the_command_takes_names():
    from nanokata.cli.run import _counters

    assert (_counters("all"), _counters("none"), _counters("cycles,branches")) == (True, False, ["cycles", "branches"])

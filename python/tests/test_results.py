from __future__ import annotations

import copy
import json
import pickle

import pandas as pd
import pytest
import synthetic

from nanokata.results import RaceResult, RunResult
from nanokata.results.rows import AFTER_PARAMETERS

PARAMETERS = ["handlers", "body", "traffic", "pool"]


@pytest.fixture
def result():
    return RunResult(synthetic.selection())


def race(**changes):
    inner = synthetic.report("race", [synthetic.selection_cell(100, **changes)])
    return RaceResult(synthetic.document(inner))


def test_rows_have_the_documented_names_in_order(result):
    own = [row for row in result.rows() if row["experiment"] == "dispatch.selection"]
    assert len(own) == 8 * 9
    for row in own:
        assert list(row) == ["experiment", *PARAMETERS, *AFTER_PARAMETERS]


def test_a_data_frame_has_the_same_columns_and_real_types(result):
    frame = result.to_pandas()
    assert list(frame.columns) == ["experiment", *PARAMETERS, *AFTER_PARAMETERS]
    assert isinstance(frame["started"].dtype, pd.DatetimeTZDtype)
    assert len(frame) == 8 * 9 + 2 * 2
    missing = frame.loc[frame["experiment"] == "dispatch.mechanism", "pool"]
    assert missing.isna().all()


def test_ids_are_the_same_for_the_same_run_and_differ_between_cells():
    first, second = (RunResult(synthetic.selection()).rows() for _ in range(2))
    assert first == second
    assert len({row["run_id"] for row in first}) == 1
    assert len({row["cell_id"] for row in first}) == 10


def test_json_survives_a_round_trip(result):
    again = RunResult.from_json(result.to_json())
    assert again.report == result.report
    assert again.rows() == result.rows()
    assert json.loads(result.to_json())["exit_code"] == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda cell: None, 0),
        (lambda cell: cell["checks"].append(synthetic.check("pool-in-cache", "failed")), 1),
        (lambda cell: cell["checks"].append(synthetic.check("counters", "not_applicable", "no PMU")), 0),
        (
            lambda cell: cell.update(
                status="no_verdict", reason="control", checks=[synthetic.check("control:scan_again", "failed")]
            ),
            3,
        ),
        (lambda cell: cell.update(status="no_verdict", reason="the control reads slower"), 3),
        (
            lambda cell: cell.update(
                status="no_verdict", reason="noise", checks=[synthetic.check("quiet", "failed", "9 dropped")]
            ),
            3,
        ),
        (
            lambda cell: cell.update(
                status="no_verdict",
                reason="noise",
                checks=[synthetic.check("quiet", "failed"), synthetic.check("bodies-distinct", "failed")],
            ),
            1,
        ),
    ],
)
def test_exit_codes_follow_the_checks_and_controls(change, code):
    cell = synthetic.selection_cell(100)
    change(cell)
    result = RaceResult(synthetic.document(synthetic.report("race", [cell])))
    assert result.exit_code == code
    summary = result.summary()
    assert ("All checks held." in summary or "No check failed; " in summary) == (code == 0)
    assert ("All checks held." in summary) == (code == 0 and all(check.outcome == "held" for check in result.checks))
    assert ({row["status"] for row in result.rows()} == {"failed"}) == (code == 1)


def test_a_companions_failed_check_counts(result):
    document = synthetic.selection()
    document["report"]["companions"][0]["cells"][0]["checks"] = [synthetic.check("bodies-distinct", "failed")]
    assert RunResult(document).exit_code == 1


def test_rows_of_a_race_whose_check_failed_say_so():
    cell = synthetic.selection_cell(100, checks=[synthetic.check("pool-in-cache", "failed", "2 MiB")])
    rows = RaceResult(synthetic.document(synthetic.report("race", [cell]))).rows()
    assert {row["status"] for row in rows} == {"failed"}
    assert rows[0]["reason"] == "failed: pool-in-cache"


def test_rows_without_a_verdict_say_why():
    rows = race(status="no_verdict", reason="scan_again reads slower than scan").rows()
    assert {row["status"] for row in rows} == {"no_verdict"}
    assert rows[0]["reason"] == "scan_again reads slower than scan"


def test_a_race_gives_its_arms_by_name():
    result = race()
    assert result["table_compact"].verdict == "faster"
    assert [arm.arm for arm in result.arms][0] == "scan"
    with pytest.raises(KeyError):
        result["nobody"]


def test_counters_are_read_and_older_documents_have_none():
    counted = [{"name": "l1i_misses", "per_operation": 0.25, "note": None}]
    unknown = [{"name": "l1i_misses", "per_operation": None, "note": "ENOENT: no hardware PMU"}]
    arms = [synthetic.arm("a", 100.0, counters=counted), synthetic.arm("b", 50.0, baseline=100.0, counters=unknown)]
    del (older := synthetic.arm("c", 50.0, baseline=100.0))["counters"]
    cell = synthetic.cell([*arms, older], {"handlers": 10})
    result = RaceResult(synthetic.document(synthetic.report("race", [cell])))
    assert result["a"].counters[0].per_operation == 0.25
    assert result["b"].counters[0].note == "ENOENT: no hardware PMU"
    assert result["c"].counters == ()
    assert "counted per packet: a 0.250 l1i misses" in result.summary().splitlines()
    written = json.loads(result.to_json())["report"]["cells"][0]["arms"]
    assert [arm.get("counters") for arm in written] == [counted, unknown, None]
    assert "counted per" not in race().summary()


def test_records_are_frozen(result):
    with pytest.raises(AttributeError):
        result.cells[0].arms[0].median = 1.0


def test_a_result_doesnt_change_its_document():
    document = synthetic.selection()
    before = copy.deepcopy(document)
    RunResult(document).summary()
    assert document == before


def test_figures_that_follow_and_facts_are_rows_too():
    document = synthetic.selection()
    document["report"]["facts"] = [
        {"name": "code:fat", "text": "180 KiB", "value": 184320.0, "unit": "bytes", "origin": "counted"}
    ]
    result = RunResult(document)
    rows = result.contrast_rows()
    assert [row["name"] for row in rows] == [contrast.name for contrast in result.contrasts]
    assert rows[1]["value"] == 500.1
    assert rows[1]["experiment"] == "dispatch.selection"
    (fact,) = result.fact_rows()
    assert (fact["name"], fact["value"], fact["origin"]) == ("code:fat", 184320.0, "counted")
    race = result.rows()[0]
    for row in (*rows, fact):
        assert {name: row[name] for name in ("machine", "run_id", "version")} == {
            name: race[name] for name in ("machine", "run_id", "version")
        }
    frame = result.contrasts_to_pandas()
    assert list(frame["name"]) == [row["name"] for row in rows]
    assert str(frame["started"].dtype).startswith("datetime64")
    assert len(result.facts_to_pandas()) == 1
    bare = RunResult(synthetic.levels())
    assert bare.contrast_rows() == []
    assert bare.contrasts_to_pandas().empty
    assert bare.facts_to_pandas().empty


def test_results_can_be_copied_and_pickled():
    result = RunResult(synthetic.document(synthetic.report("dispatch.selection", [synthetic.selection_cell(10)])))
    for again in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert again.to_json() == result.to_json()
        assert again.machine.id == result.machine.id

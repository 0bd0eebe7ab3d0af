from __future__ import annotations

import json
import re

import pytest
import synthetic
from matplotlib.figure import Figure

import nanokata as nk
from nanokata import catalogue, figures
from nanokata.cli import endings
from nanokata.cli.commands import nanokata
from nanokata.render import overview_renderable, plain, trap_renderable
from nanokata.results import RunResult

CAUGHT = RunResult(synthetic.trap())
INJECTED = RunResult(synthetic.trap(name="arm_major", bite="injected", cause="injected: a drift"))
HARMLESS = RunResult(synthetic.trap(name="no_warm_up", bite="no"))
ALL = [CAUGHT, INJECTED, HARMLESS]
TRAPS = [experiment.id for experiment in nk.experiments() if experiment.area == "traps"]


@pytest.fixture
def run_command(capfd):
    def call(*arguments):
        code = endings.run_command(nanokata, list(arguments))
        out, err = capfd.readouterr()
        return code, out, err

    return call


@pytest.mark.parametrize("result", ALL)
def test_what_fires_on_purpose_is_no_failure(result):
    assert result.exit_code == 0
    assert result.failed_checks == ()
    assert {check.outcome for cell in result.cells if cell.faulty for check in cell.checks} == {"fired"}
    assert RunResult.from_json(result.to_json()).trap == result.trap
    assert {row["status"] for row in result.rows() if row["configuration"] == "right"} == {"held"}


@pytest.mark.parametrize(
    ("broken", "said"),
    [({"fires": "failed"}, "tick does NOT fire"), ({"holds": "failed"}, "tick does NOT hold")],
)
def test_a_trap_that_isnt_caught_is_a_failure(broken, said):
    result = RunResult(synthetic.trap(**broken))
    assert result.exit_code == 1
    assert said in plain(trap_renderable(result.trap))
    assert "A check failed (trap-" in result.summary()
    assert "NOT" in plain(overview_renderable([result]))


def test_a_right_race_without_a_verdict_leaves_none():
    document = synthetic.trap()
    right = document["report"]["cells"][-1]
    right.update(status="no_verdict", reason="quiet: too noisy")
    result = RunResult(document)
    assert result.exit_code == 3
    assert "quiet: too noisy" in result.summary()


def test_a_check_about_measuring_alone_is_named_as_the_reason():
    document = synthetic.document(synthetic.report("dispatch.selection", [synthetic.selection_cell(10)]))
    document["report"]["cells"][0]["checks"].append(synthetic.check("pool-not-learned", "failed", "64 packets"))
    result = RunResult(document)
    assert result.exit_code == 3
    assert "pool-not-learned: 64 packets" in " ".join(result.summary().split())


@pytest.mark.parametrize("result", ALL)
def test_a_trap_is_told_in_both_answers_and_its_check(result):
    text = " ".join(result.summary().split())
    for part in (
        "The table costs 0.00 ns a packet",
        "tick fires: shortest rep 0.0",
        "The table costs 13.50 ns a packet",
    ):
        assert part in text
    bites = {"yes": "It bites here", "injected": "Its cause is injected", "no": "It doesn't bite here"}
    assert bites[result.trap.bite] in text
    assert max(map(len, result.summary().splitlines())) <= 80


def test_of_several_traps_each_is_told_in_short_with_what_is_wrong(run_command, monkeypatch):
    noisy = synthetic.trap()
    noisy["report"]["cells"][-1].update(status="no_verdict", reason="quiet: too noisy")
    results = [CAUGHT, RunResult(noisy), RunResult(synthetic.trap(fires="failed")), *ALL, *ALL, *ALL]
    monkeypatch.setattr(nk, "run", lambda *_, **__: results.pop(0))
    monkeypatch.setattr(nk, "doctor", lambda **_: pytest.fail("traps don't ask the doctor"))
    code, out, _ = run_command("run", "traps", "--no-figure")
    assert code == 1
    assert out.count("tick fires: shortest rep") == 10
    assert out.count("quiet: too noisy") == 1
    assert out.count("A check failed (trap-fires)") == 1
    assert "instrument:" not in out
    assert out.splitlines()[-11].startswith("coarse_clock")


def test_the_overview_has_a_row_a_trap_and_leaves_others_out():
    other = RunResult(synthetic.selection())
    text = plain(overview_renderable([*ALL, other]))
    rows = [line for line in text.splitlines() if re.search(r"(yes|injected|not here)$", line)]
    assert [row.split()[0] for row in rows] == ["coarse_clock", "arm_major", "no_warm_up"]
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("result", ALL)
def test_a_trap_has_a_figure_of_its_own(result, tmp_path):
    figure = result.plot()
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()][1] == "right"
    assert "(ns/packet)" in left.get_xlabel()
    assert right.get_xlabel() == "ns/packet"
    figure.savefig(tmp_path / "trap.png")
    hollow = [line for line in left.lines if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 1, "the wrong answer alone"


def test_answers_go_into_a_given_axes():
    from nanokata.figures import traps

    ax = Figure().add_subplot()
    assert traps.traps(CAUGHT, ax=ax) is ax.get_figure()
    assert ax.get_xlabel()


def test_without_both_configurations_the_general_figure_is_drawn():
    document = synthetic.trap()
    document["report"]["trap"] = None
    document["report"]["cells"] = document["report"]["cells"][1:]
    (ax,) = figures.draw(RunResult(document)).axes
    assert "time relative to table" in ax.get_xlabel()


def test_intervals_that_are_missing_are_left_out(tmp_path):
    missing = synthetic.answer("the table costs 1 ns", 1.0, low=None, high=None)
    result = RunResult(synthetic.trap(wrong=missing, bite="no"))
    result.plot().savefig(tmp_path / "trap.png")
    assert "too few blocks" in result.summary()


def test_the_lab_leaves_traps_out_and_an_area_of_their_own_has_them():
    assert len(TRAPS) == 11
    assert not {experiment.id for experiment in catalogue.chosen("lab")} & set(TRAPS)
    assert [experiment.id for experiment in catalogue.chosen("traps")] == TRAPS
    for name in TRAPS:
        assert catalogue.find(name).title.startswith("Trap: ")


def test_a_trap_end_to_end(run_command):
    code, out, err = run_command("run", "traps.one_handler", "--set", "pool=4096", "--quick", "--json", "--no-figure")
    if code == 3 and not out:
        pytest.skip(f"others keep the CPU busy: {err}")
    document = json.loads(out)
    trap = document["report"]["trap"]
    assert code in {0, 3}
    assert trap["check"] == "several-targets"
    assert trap["fires"] == trap["holds"] == "held"
    assert trap["wrong"]["value"] < trap["right"]["value"]
    # Neither the doctor nor the instrument is asked first: a trap is brief.
    assert document["instrument"] is None


@pytest.mark.parametrize("fault", ["skip-residual", "constant-result", "drop-packet", "wrong-order"])
def test_sabotage_is_caught_arm_by_arm(fault, run_command):
    asked = ["run", "dispatch.selection", "--sabotage", fault, "--set", "handlers=10,20", "--set", "body=tiny"]
    code, out, _ = run_command(*asked, "--set", "pool=4096", "--quick")
    assert code == 1
    raced = 5 if fault == "wrong-order" else 8
    assert out.count("caught: computed 0x") == 2 * raced
    assert f"All {2 * raced} broken arms caught" in out
    assert "figure:" not in out


def test_sabotage_from_python_lists_what_was_caught():
    result = nk.run(
        "dispatch.mechanism", sabotage="wrong-handler-id", traffic="uniform", body="tiny", handlers=10, quick=True
    )
    assert result.exit_code == 1
    assert result.report.sabotage == "wrong-handler-id"
    assert {check.name.partition(" (")[0] for check in result.failed_checks} >= {
        "checksum:direct",
        "checksum:dyn_trait",
    }
    assert result.cells == ()
    assert json.loads(result.to_json())["exit_code"] == 1
    assert "caught by the checksum" in result._repr_html_()


@pytest.mark.parametrize(
    ("experiment", "fault", "said"),
    [
        ("dispatch.selection", "skip-residuals", "did you mean skip-residual"),
        ("dispatch.selection", "zzz", "drop-packet"),
        ("cache.levels", "skip-residual", "no arm of cache.levels can have it"),
        ("cache.levels", "stale-payload", "replays no packets"),
    ],
)
def test_sabotage_that_cant_be_had_is_refused(experiment, fault, said, run_command):
    with pytest.raises(nk.InvalidArgument, match=said) as refused:
        nk.run(experiment, sabotage=fault, quick=True)
    assert refused.value.name == "sabotage"
    code, _, err = run_command("run", experiment, "--sabotage", fault)
    assert code == 2
    assert said in " ".join(err.split())


def test_sabotage_of_another_type_is_refused():
    with pytest.raises(nk.WrongType, match="sabotage"):
        nk.run("dispatch.selection", sabotage=7)


def test_help_teaches_sabotage_and_traps(run_command):
    code, out, _ = run_command("run", "--help")
    text = " ".join(out.split())
    assert code == 0
    assert "skip-residual" in text
    assert "every area but `traps`" in text


def test_a_sabotaged_arm_that_went_unnoticed_is_shouted_about():
    checks = [
        synthetic.check("checksum:scan (handlers 10)", "failed", "caught: computed 0x1 where 0x2 was expected"),
        synthetic.check("unnoticed:table (handlers 10)", "failed", "a whole race didn't notice"),
        synthetic.check("checksum:null (handlers 10)", "not_applicable", "it isn't built over a set of handlers"),
    ]
    inner = synthetic.report("dispatch.selection", [], checks=checks, sabotage="drop-packet")
    result = RunResult(synthetic.document(inner))
    assert result.exit_code == 1
    assert "1 of 2 broken arms were NOT noticed" in result.summary()

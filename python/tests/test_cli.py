from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import click
import pytest
import synthetic
from click.testing import CliRunner

import nanokata as nk
from nanokata import catalogue, presets
from nanokata.cli import endings
from nanokata.cli.commands import nanokata
from nanokata.results import RunResult

# Three arms only: short rounds, which a busy machine rarely disturbs.
SMALL = ["dispatch.mechanism", "--set", "handlers=10", "--set", "pool=2048", "--quick", "--seconds", "0.2"]


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "nanokata", *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def run(capfd):
    def call(*arguments):
        code = endings.run_command(nanokata, list(arguments))
        out, err = capfd.readouterr()
        return code, out, err

    return call


def test_help_is_grouped_and_short():
    shown = CliRunner().invoke(nanokata, ["--help"]).output
    assert "Measure:" in shown
    assert "Learn:" in shown
    for name in ("doctor", "list", "run"):
        assert name in shown
        assert CliRunner().invoke(nanokata, [name, "--help"]).exit_code == 0
    assert max(map(len, shown.splitlines())) <= 80


def test_list_shows_every_experiment(run):
    code, out, _ = run("list")
    assert code == 0
    assert all(experiment.id in out for experiment in nk.experiments())
    assert max(map(len, out.splitlines())) <= 80


def test_list_as_json_is_the_catalogue(run):
    code, out, _ = run("list", "--json")
    assert code == 0
    assert [item["id"] for item in json.loads(out)] == [item.id for item in nk.experiments()]


def test_list_of_one_shows_parameters_and_arms(run):
    code, out, _ = run("list", "dispatch.selection")
    assert code == 0
    assert "handlers" in out
    assert "table_compact" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_run_prints_its_tables_and_draws_its_figure(run, tmp_path):
    code, out, _ = run("run", *SMALL, "--out", str(tmp_path / "figures"))
    assert code in {0, 1, 3}
    assert "dyn_trait" in out
    figure = tmp_path / "figures" / "dispatch.mechanism.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert out.splitlines()[-1] == f"figure: {figure}"
    assert "\x1b" not in out


def test_a_run_as_json_is_json_alone(run, tmp_path):
    code, out, err = run("run", *SMALL, "--json", "--out", str(tmp_path))
    document = json.loads(out)
    assert document["exit_code"] == code
    cells = 4  # bodies by traffic
    assert len(document["rows"]) == cells * len(catalogue.find("dispatch.mechanism").arms)
    assert "figure: " in err


def result_of(experiment, status):
    inner = synthetic.report(experiment, [synthetic.selection_cell(100)])
    if status == "failed":
        inner["cells"][0]["checks"].append(synthetic.check("bodies-distinct", "failed"))
    if status == "no_verdict":
        inner["cells"][0].update(status="no_verdict", reason="noise")
    return RunResult(synthetic.document(inner))


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [({}, 0), ({0: "no_verdict"}, 3), ({0: "failed", 1: "no_verdict"}, 1), ({0: nk.NotMeasurable("one CPU")}, 3)],
)
def test_several_experiments_run_in_turn_and_the_worst_code_is_taken(outcomes, code, run, monkeypatch):
    asked = []

    def measured(experiment, **settings):
        outcome = outcomes.get(len(asked))
        asked.append((experiment, settings))
        if isinstance(outcome, Exception):
            raise outcome
        return result_of(experiment, outcome)

    monkeypatch.setattr(nk, "run", measured)
    monkeypatch.setattr(nk, "doctor", lambda **_: None)
    got, out, err = run("run", "lab", "--set", "pool=2048", "--preset", "original", "--no-figure", "--json")
    assert got == code
    assert [experiment for experiment, _ in asked] == [item.id for item in nk.experiments() if item.area != "traps"]
    refused = sum(isinstance(outcome, Exception) for outcome in outcomes.values())
    assert len(json.loads(out)) == len(asked) - refused
    assert ("one CPU" in err) == bool(refused)
    for experiment, settings in asked:
        assert ("pool" in settings) == (catalogue.find(experiment).parameter("pool") is not None)
        assert settings["preset"] == ("original" if experiment in presets.PRESETS else None)


def test_an_area_shows_each_result(run, monkeypatch):
    monkeypatch.setattr(nk, "run", lambda experiment, **_: result_of(experiment, "held"))
    monkeypatch.setattr(nk, "doctor", lambda **_: None)
    code, out, _ = run("run", "cache", "--no-figure")
    assert code == 0
    assert "Title of cache.levels" in out


def test_the_time_left_is_known_from_the_start_and_follows_the_pace():
    from nanokata.cli.progress import seconds_left

    assert seconds_left(0.0, 0.0, 30.0) == 30.0
    assert seconds_left(0.0, 40.0, 30.0) == 0.0
    assert seconds_left(0.5, 15.0, 30.0) == 15.0
    assert seconds_left(0.9, 90.0, 30.0) == pytest.approx(9.0)
    assert seconds_left(1.0, 12.0, 30.0) == 0.0


def test_every_commands_errors_know_what_was_asked_for():
    groups = [command for command in nanokata.commands.values() if isinstance(command, click.Group)]
    every = [command for command in nanokata.commands.values() if command not in groups]
    every += [command for group in groups for command in group.commands.values()]
    assert {type(command) for command in every} == {endings.Command}
    assert {group.name for group in groups} <= {"plugin", "exercise"}
    for command in every:
        assert "\\b" not in CliRunner().invoke(command, ["--help"]).output, command.name


def test_a_katas_experiments_are_listed_under_its_name(run):
    code, out, _ = run("list", "plugin-dispatch", "--json")
    assert code == 0
    assert {"dispatch.selection", "dispatch.tail"} <= {item["id"] for item in json.loads(out)}
    assert "plugin-dispatch" in run("list", "plugin-dispach")[2]


def test_no_figure_draws_none(run, tmp_path):
    _, out, _ = run("run", *SMALL, "--no-figure", "--out", str(tmp_path / "figures"))
    assert not (tmp_path / "figures").exists()
    assert "figure:" not in out


def test_a_figure_that_cant_be_written_doesnt_lose_the_result(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run("run", *SMALL, "--out", str(tmp_path / "file" / "figures"))
    assert code in {0, 1, 3}
    assert "dyn_trait" in out
    assert "no figure was drawn" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "dispatch.selecton"], "nanokata run dispatch.selection"),
        (["run", "zzz"], "nanokata list"),
        (["rum"], "nanokata run"),
        (["run", "cach"], "nanokata run cache"),
        (["run", "lba"], "nanokata run lab"),
        (["run", "lab", "--set", "colour=red"], "takes"),
        (["run", "cache", "--traffic", "uniform"], "replays no traffic"),
        (["run", "dispatch.selection", "--preset", "modern"], "has original"),
        (["run", "cache", "--preset", "original"], "has no presets"),
        (["run", "dispatch.selection", "--set", "handlers"], "--set handlers=10,100"),
        (["run", "dispatch.selection", "--set", "handlers=0"], "from 1 to 1024"),
        (["run", "dispatch.selection", "--set", "colour=red"], "takes"),
        (["run", "dispatch.selection", "--traffic", "nowhere.pcap"], "existing file"),
        (["run", "cache.levels", "--traffic", "uniform"], "replays no traffic"),
        (["run", "dispatch.selection", "--cpu", "4095"], "4095"),
        (["run", "dispatch.selection", "--seconds", "0"], "seconds"),
        (["run", "dispatch.selection", "--seed", "-1"], "seed"),
        (["run"], "EXPERIMENT"),
        (["list", "dispatch.selecton"], "dispatch.selection"),
        (["run", "dispatch.selection", "--set", "pool=2048", "--set", "pool=4096"], "set it once"),
        (["run", "dispatch.selection", "--set", "handlers=10", "--set", "handlers=10"], "once"),
    ],
)
def test_unusable_arguments_end_with_2_and_what_to_type(arguments, said, run):
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_the_module_runs_as_a_command():
    done = command("--version")
    assert done.returncode == 0
    assert nk.__version__ in done.stdout


def test_output_survives_an_ascii_terminal():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = command("run", *SMALL, "--no-figure", env=environment)
    assert done.returncode in {0, 1, 3}
    assert "dyn_trait" in done.stdout


def test_a_reader_that_goes_away_is_no_crash():
    done = subprocess.run(
        f"{sys.executable} -m nanokata list --json | head -c 1", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stdout == "["
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_a_run_soon_with_130(tmp_path):
    started = subprocess.Popen(
        [sys.executable, "-m", "nanokata", "run", "dispatch.selection", "--seconds", "600", "--precision", "1e-9"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    time.sleep(3)
    assert started.poll() is None
    started.send_signal(signal.SIGINT)
    # Far beyond the 0.2 s that are promised: this tells an ending from a hang, on any machine.
    out, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert out == ""


@pytest.fixture
def shown(monkeypatch, run):
    """A run of a synthetic result, with figures as they are."""
    settings = []

    def measured(experiment, **given):
        settings.append(given)
        return result_of(experiment, "held")

    monkeypatch.setattr(nk, "run", measured)
    monkeypatch.setattr(nk, "doctor", lambda **_: None)

    def call(*arguments):
        return (*run("run", "dispatch.selection", *arguments), settings)

    return call


def test_settings_given_again_follow_each_other(shown):
    *_, settings = shown("--no-figure", "--set", "handlers=10,25", "--set", "handlers=50")
    assert settings[0]["handlers"] == ["10", "25", "50"]


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("problem", [ValueError("nonsense backend"), RuntimeError("[/b]"), MemoryError()])
def test_a_figure_that_fails_is_a_warning(problem, as_json, shown, monkeypatch, tmp_path):
    def fail(result):
        raise problem

    monkeypatch.setattr(nk.figures, "draw", fail)
    code, out, err, _ = shown("--out", str(tmp_path), *(["--json"] if as_json else []))
    assert code == 0
    assert "table_compact" in out
    assert "no figure was drawn" in err
    assert (str(problem) or "MemoryError") in err


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_while_drawing_keeps_the_printed_result(as_json, shown, monkeypatch, tmp_path):
    def interrupt(result):
        raise KeyboardInterrupt

    monkeypatch.setattr(nk.figures, "draw", interrupt)
    code, out, _, _ = shown("--out", str(tmp_path), *(["--json"] if as_json else []))
    assert code == 130
    assert "table_compact" in out


def test_a_backend_that_isnt_there_costs_no_result(tmp_path):
    environment = {**os.environ, "MPLBACKEND": "nonsense"}
    done = command("run", *SMALL, "--out", str(tmp_path), env=environment)
    assert done.returncode in {0, 1, 3}
    assert "dyn_trait" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("redirected", "said"), [("> /dev/full", "can't be written"), (">&-", "is closed")])
def test_an_output_that_takes_nothing_ends_with_2(redirected, said):
    for arguments in ("list", "list --json", "--help", "--version"):
        line = f"{sys.executable} -m nanokata {arguments} {redirected}"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 2, arguments
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_broken_pipe_says_nothing():
    line = f"set -o pipefail; {sys.executable} -m nanokata list --json | true"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in {0, endings.BROKEN_PIPE}


def test_ctrl_c_while_libraries_load_ends_with_130():
    code = (
        "import sys, builtins\nimport nanokata.cli as cli\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["run", "list"])
def test_a_name_like_no_other_is_told_once(name, run):
    _, _, err = run(name, "zzz")
    assert err.count("nanokata list") == 1

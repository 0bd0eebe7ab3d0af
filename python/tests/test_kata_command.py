from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import phased
import pytest
import synthetic

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata
from nanokata.phases import KATAS


@pytest.fixture
def run(capfd):
    def call(*arguments):
        code = endings.run_command(nanokata, list(arguments))
        out, err = capfd.readouterr()
        return code, out, err

    return call


ANSWERS = {
    "dispatch.selection": phased.selection,
    "dispatch.mechanism": phased.mechanism,
    "cache.levels": lambda: phased.result("cache.levels"),
}


@pytest.fixture
def asked(monkeypatch):
    """A kata on paper, and what its experiments were asked."""
    calls = []

    def measured(experiment, *, progress, **settings):
        calls.append((experiment, settings))
        return ANSWERS[experiment]()

    monkeypatch.setitem(KATAS, "paper", phased.KATA)
    monkeypatch.setattr(nk, "run", measured)
    return calls


def test_each_phase_is_printed_and_drawn_and_the_page_collects_them(run, asked, tmp_path):
    code, out, err = run("run", "paper", "--seed", "5", "--quick", "--out", str(tmp_path / "here"), "--markdown")
    assert code == 0
    places = [
        out.index(words) for words in ("Phase 0:", "Phase 1:", "Phase 2:", "Finding one of", "time by phase", "page:")
    ]
    assert places == sorted(places)
    assert out.splitlines()[-1] == f"page: {tmp_path / 'here' / 'index.html'}"
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert names == {
        "index.html", "index.md", "1-dispatch.selection.png", "2-dispatch.mechanism.png", "2-cache.levels.png",
    }  # fmt: skip
    assert err == ""
    assert max(map(len, out.replace(str(tmp_path), "").splitlines())) <= 80
    assert all(settings["quick"] and settings["seed"] == 5 for _, settings in asked)


def test_a_kata_has_a_folder_of_its_own_by_default(run, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("run", "paper", "--no-figure")[0] == 0
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")] == ["nanokata-figures/paper/index.html"]


def test_json_has_everything_and_stands_alone(run, asked, tmp_path):
    code, out, err = run("run", "paper", "--json", "--out", str(tmp_path), "--set", "handlers=50", "--cpu", "0")
    document = json.loads(out)
    assert code == document["exit_code"] == 0
    assert [len(phase["results"]) for phase in document["phases"]] == [0, 1, 2]
    assert document["phases"][1]["results"][0]["rows"]
    assert document["options"]["set"] == {"handlers": "50"}
    assert document["options"]["cpu"] == 0
    assert "page: " in err
    assert nk.KataRun.from_json(out, phased.KATA).exit_code == 0


@pytest.mark.parametrize("at", [0, 1, 2])
def test_ctrl_c_writes_the_page_of_what_is_finished(run, asked, tmp_path, monkeypatch, at):
    measured = nk.run

    def cut(experiment, **settings):
        if len(asked) == at:
            raise KeyboardInterrupt
        return measured(experiment, **settings)

    monkeypatch.setattr(nk, "run", cut)
    code, out, err = run("run", "paper", "--json", "--out", str(tmp_path), "--no-figure")
    assert code == endings.INTERRUPTED
    document = json.loads(out)
    assert document["interrupted"]
    assert sum(len(phase["results"]) for phase in document["phases"]) == at
    assert "what is finished is kept" in err
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Interrupted in phase" in text


def test_a_failed_check_is_the_code_whatever_else_is(run, asked, tmp_path, monkeypatch):
    failed = [synthetic.selection_cell(100, checks=[synthetic.check("bodies-distinct", "failed")])]
    monkeypatch.setitem(ANSWERS, "dispatch.selection", lambda: phased.selection(cells=failed))
    code, out, _ = run("run", "paper", "--out", str(tmp_path), "--no-figure")
    assert code == 1
    assert "A check failed (bodies-distinct)" in out
    assert "Finding one of" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["paper", "--set", "handels=3"], "handels"),
        (["paper", "--set", "handlers=0"], "handlers = 0"),
        (["paper", "--preset", "unheard"], "unheard"),
        (["dispatch.selection", "--markdown"], "has no page"),
        (["plugin-dispach"], "plugin-dispatch"),
    ],
)
def test_what_cant_be_used_is_refused_before_anything_runs(run, asked, tmp_path, arguments, words):
    code, out, err = run("run", *arguments, "--out", str(tmp_path / "none"))
    assert code == endings.UNUSABLE_ARGUMENTS
    assert words in err
    assert not out
    assert not asked
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cant_be_written_costs_the_page_only(run, asked, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run("run", "paper", "--out", str(tmp_path / "file" / "below"))
    assert code == 0
    assert "Phase 2:" in out
    assert "--out DIR puts it elsewhere" in err


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["run", "dispatch.selection", "--set", "handlers=0"], "`nanokata list dispatch.selection`"),
        (["run", "dispatch.selection", "--set", "handels=1"], "`nanokata list dispatch.selection`"),
        (["run", "dispatch.selection", "--set", "handlers"], "`nanokata list dispatch.selection`"),
        (["run", "cache", "--set", "handlers=1"], "`nanokata list cache`"),
        (["run", "dispatch.selection", "--seconds", "0"], " run --help`"),
        (["run", "dispatch.selection", "--markdown"], " run --help`"),
        (["run", "cache.levels", "--traffic", "uniform"], " run --help`"),
        (["run", "plugin-dispatch", "--set", "handlers=0"], "`nanokata list`"),
    ],
)
def test_advice_names_what_was_asked_for(run, arguments, advice):
    code, _, err = run(*arguments)
    assert code == endings.UNUSABLE_ARGUMENTS
    assert err.splitlines()[-1].endswith(f"{advice} shows what it takes")


def interrupted_from(error, monkeypatch):
    seen = []

    def measured(experiment, **_):
        if len(seen) == 1:
            raise error
        seen.append(experiment)
        return phased.result(experiment)

    monkeypatch.setattr(nk, "run", measured)
    monkeypatch.setattr(nk, "doctor", lambda **_: None)


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), endings.INTERRUPTED), (endings.Terminated(), endings.TERMINATED)]
)
def test_an_array_of_results_is_closed_whatever_ends_it(run, monkeypatch, error, code):
    interrupted_from(error, monkeypatch)
    got, out, _ = run("run", "lab", "--no-figure", "--json")
    assert got == code
    assert len(json.loads(out)) == 1


def test_sigterm_ends_a_kata_with_its_page(tmp_path):
    arguments = ["run", "plugin-dispatch", "--out", str(tmp_path), "--no-figure", "--json", "--seconds", "60"]
    environment = {**os.environ, "NANOKATA_HOME": str(tmp_path / "home")}
    with subprocess.Popen(
        [sys.executable, "-m", "nanokata", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        time.sleep(3.0)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == endings.TERMINATED
    assert json.loads(out)["interrupted"]
    assert "Interrupted" in (tmp_path / "index.html").read_text(encoding="utf-8")

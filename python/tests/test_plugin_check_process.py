"""The process of a check and the command around it: what is shown, and that nothing is left running."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile_kinds import BENIGN

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="hostile plugins need Linux and cc"
)


@pytest.fixture
def run(capfd):
    def call(*arguments):
        code = endings.run_command(nanokata, ["plugin", "check", *map(str, arguments)])
        return (code, *capfd.readouterr())

    return call


def test_what_is_shown(libraries, honest):
    for name in ("working-aborts", "claims-overruns", BENIGN[0].name):
        checked = nk.plugin.check(libraries[name])
        text = checked.summary()
        assert max(map(len, text.splitlines())) <= 80
        assert all(check.name in text for check in checked.checks)
        assert "<pre" in checked._repr_html_()
        document = json.loads(checked.to_json())
        assert document["passed"] is checked.passed
        assert [check["name"] for check in document["checks"]] == [check.name for check in checked.checks]
    with pytest.raises(KeyError, match="claimed_keys"):
        checked["nonsense"]


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e9, "soon", True])
def test_times_that_are_none_are_refused(honest, timeout):
    with pytest.raises(nk.InvalidArgument, match="timeout"):
        nk.plugin.check(honest, timeout=timeout)


def test_the_command(run, honest, libraries, tmp_path):
    code, out, err = run(honest)
    assert (code, err) == (0, "")
    assert "passed" in out
    assert max(map(len, out.replace(str(honest), "").splitlines())) <= 80
    code, out, _ = run(honest, libraries["working-aborts"], "--json")
    assert code == 1
    assert [one["passed"] for one in json.loads(out)] == [True, False]
    code, out, err = run(honest, tmp_path / "absent.so", libraries["working-aborts"])
    assert code == 2
    assert "absent.so" in err
    code, _, err = run(honest, "--timeout", "0")
    assert code == 2
    assert "timeout" in err
    code, out, _ = run("--help")
    assert code == 0
    assert "\n  nanokata plugin check libmine.so\n" in out


def processes_with(path):
    """Processes that run and have a path among their arguments."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(path).encode() in words and state != "Z":
            found.append(int(process.name))
    return found


def test_what_a_plugin_started_is_ended_with_it(libraries):
    checked = nk.plugin.check(libraries["living-forks"])
    assert checked.exit_code in {0, 1}
    until = time.monotonic() + 5
    while processes_with(libraries["living-forks"]) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(libraries["living-forks"]) == []


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_whoever_ends_the_check_ends_what_it_started(libraries, sent, code):
    path = str(libraries["working-loops"])
    started = subprocess.Popen(
        [sys.executable, "-m", "nanokata", "plugin", "check", path, "--timeout", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 30
    while len(processes_with(path)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    assert len(processes_with(path)) == 2
    started.send_signal(sent)
    _, err = started.communicate(timeout=30)
    assert started.returncode == code
    assert "Traceback" not in err
    until = time.monotonic() + 5
    while processes_with(path) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(path) == []


def test_a_time_that_is_over_before_it_began_blames_nothing_else(honest):
    checked = nk.plugin.check(honest, timeout=1e-6)
    assert [check.name for check in checked.failed] == ["time"]
    assert "before the examination began" in checked["time"].detail
    assert checked.ended_in is None


@pytest.mark.parametrize(("program", "said"), [("/bin/false", "didn't begin"), ("/absent", "no process"), ("", "own")])
def test_an_examination_that_doesnt_begin_is_no_verdict(program, said, honest, monkeypatch):
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(nk.SystemCallError, match=said):
        nk.plugin.check(honest)

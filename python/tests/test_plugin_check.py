"""Whatever a library does, a check returns, and says what it was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile_kinds import BENIGN, HANGS, KINDS, build_all

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata
from nanokata.plugin.passed import has_passed

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="hostile plugins need Linux and cc"
)


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    return build_all(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def honest(libraries):
    return libraries[BENIGN[0].name]


@pytest.fixture
def run(capfd):
    def call(*arguments):
        code = endings.run_command(nanokata, ["plugin", "check", *map(str, arguments)])
        return (code, *capfd.readouterr())

    return call


def first_failure(checked):
    return (checked.failed[0].name, checked.failed[0].detail) if checked.failed else None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_wrong_is_named(kind, libraries):
    if kind.name not in libraries:
        pytest.skip("no Rust compiler here")
    checked = nk.plugin.check(libraries[kind.name])
    assert not checked.passed
    assert checked.exit_code == 1
    name, detail = first_failure(checked)
    assert (name, kind.said in detail) == (kind.check, True), detail
    assert checked.ended_in == kind.ended_in
    assert not has_passed(checked.sha256)


@pytest.mark.parametrize("kind", HANGS, ids=lambda kind: kind.name)
def test_what_hangs_is_ended_and_named(kind, libraries):
    checked = nk.plugin.check(libraries[kind.name], timeout=1)
    assert first_failure(checked)[0] == kind.check
    assert kind.said in checked[kind.check].detail
    assert checked.ended_in == kind.check
    assert checked["time"].outcome == "failed"
    # Far beyond the second that it had: tells an end from a hang, on any machine.
    assert checked.seconds < 20


@pytest.mark.parametrize("kind", BENIGN, ids=lambda kind: kind.name)
def test_an_honest_one_passes_everything(kind, libraries):
    checked = nk.plugin.check(libraries[kind.name])
    assert checked.passed, checked.summary()
    expected = set() if kind.define == "HONEST" else {"batch"}
    assert {check.name for check in checked.checks if check.outcome != "held"} == expected
    assert "its code is gone" in checked["unload"].detail
    assert has_passed(checked.sha256)


@pytest.mark.parametrize("name", ["v1", "v2"])
@pytest.mark.parametrize("language", ["shipped", "c", "cpp"])
def test_the_example_plugins_pass(name, language, tmp_path):
    path = nk.plugin.shipped()[name]
    if language != "shipped":
        path = nk.plugin.build(nk.plugin.sources() / "plugins" / f"{name}.{language}", tmp_path / "built.so").library
    checked = nk.plugin.check(path)
    assert checked.passed, checked.summary()
    assert checked["batch"].outcome == ("held" if name == "v2" else "not_applicable")
    assert [export.name for export in checked.exports] == ["nanokata_plugin"]
    assert [check.name for check in checked.checks if check.outcome == "not_applicable"] in ([], ["batch"])


def test_what_a_plugin_started_is_ended_with_it(libraries):
    checked = nk.plugin.check(libraries["living-forks"])
    assert checked.exit_code in {0, 1}
    until = time.monotonic() + 5
    while processes_with(libraries["living-forks"]) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(libraries["living-forks"]) == []


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


@pytest.fixture
def odd_file(tmp_path, honest):
    """Paths that are no plugin, by what they are."""
    whole = honest.read_bytes()
    made = {
        "text": b"#!/bin/sh\necho plugin\n",
        "empty": b"",
        "arm": whole[:18] + b"\xb7\x00" + whole[20:],
        "narrow": whole[:4] + b"\x01" + whole[5:],
        **{f"cut{size}": whole[:size] for size in (1, 4, 16, 63, 64, 200, len(whole) // 2, len(whole) - 1)},
    }
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    return lambda name: tmp_path / (f"cut{len(whole) // 2}" if name == "half" else name)


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("text", "no ELF file", 1),
        ("empty", "it is empty", 1),
        ("cut1", "no ELF file", 1),
        ("cut4", "cut short", 1),
        ("cut16", "cut short", 1),
        ("cut63", "cut short", 1),
        ("cut64", "cut short", 1),
        ("cut200", "cut short", 1),
        ("half", "cut short", 1),
        ("arm", "architecture = Aarch64", 1),
        ("narrow", "file = ", 1),
        ("directory", "a directory", 2),
        ("fifo", "a device, pipe or socket", 2),
        ("dangling", "No such file", 2),
        ("absent", "No such file", 2),
        ("-c", "No such file", 2),
    ],
)
def test_files_that_are_no_plugin(odd_file, name, said, code, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    checked = nk.plugin.check(name if name.startswith("-") else odd_file(name))
    name, detail = first_failure(checked)
    assert (name, said in detail) == ("file", True), detail
    assert checked.exit_code == code
    assert checked.sha256 is None
    assert checked["dlopen"].detail == "not reached"


def test_every_cut_is_refused(honest, tmp_path):
    whole = honest.read_bytes()
    cut = tmp_path / "cut.so"
    for part in range(1, 12):
        cut.write_bytes(whole[: len(whole) * part // 12])
        assert not nk.plugin.check(cut).passed, part
    cut.write_bytes(whole[:-1])
    assert not nk.plugin.check(cut).passed


def test_a_file_that_mayn_t_be_read(honest, tmp_path):
    path = tmp_path / "locked.so"
    shutil.copy(honest, path)
    path.chmod(0)
    code = f"import nanokata as nk; c = nk.plugin.check({str(path)!r}); print(c.exit_code, c['file'].detail)"
    command = [sys.executable, "-c", code]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root reads everything, and there is no setpriv to make it stop")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 file = Permission denied")


def test_a_bare_name_is_the_file_here_and_nothing_here_is_imported(honest, tmp_path, monkeypatch):
    shutil.copy(honest, tmp_path / "mine.so")
    for module in ("json", "importlib", "nanokata", "os", "_imp", "encodings"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('picked up from the working directory')")
    monkeypatch.chdir(tmp_path)
    checked = nk.plugin.check("mine.so")
    assert checked.passed, checked.summary()
    assert nk.plugin.load("mine.so").path == tmp_path / "mine.so"


def test_passing_the_check_is_remembered_by_content(honest, tmp_path):
    path = tmp_path / "mine.so"
    shutil.copy(honest, path)
    with pytest.warns(nk.UncheckedPlugin):
        nk.plugin.load(path)
    assert nk.plugin.check(path).passed
    # Warnings are errors here: it warns no more.
    nk.plugin.load(path)


def test_a_check_that_cant_be_remembered_still_passes(honest, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NANOKATA_HOME", str(tmp_path / "file"))
    from nanokata.store import StoreWarning

    with pytest.warns(StoreWarning, match="can't be kept"):
        assert nk.plugin.check(honest).passed


REFUSED_BEFORE_DANGER = [
    kind
    for kind in KINDS
    # Exporting more is a matter of manners, which a host can live with.
    if kind.check in {"exports", "struct_size", "abi_version", "functions"} and kind.define != "MORE_SYMBOLS"
]


@pytest.mark.parametrize("kind", REFUSED_BEFORE_DANGER, ids=lambda kind: kind.name)
def test_the_loader_refuses_what_it_can_tell(kind, libraries):
    with pytest.raises(nk.PluginRejected) as refused:
        nk.plugin.load(libraries[kind.name])
    assert kind.said.rstrip(";") in f"{refused.value.field} = {refused.value.value}"


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
    assert run("--help")[0] == 0


def test_ctrl_c_ends_the_check_and_what_it_started(libraries):
    path = str(libraries["working-loops"])
    started = subprocess.Popen(
        [sys.executable, "-m", "nanokata", "plugin", "check", path, "--timeout", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    until = time.monotonic() + 30
    while len(found := processes_with(path)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    (child,) = set(found) - {started.pid}
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert "Traceback" not in err
    assert processes_with(path) == []
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)

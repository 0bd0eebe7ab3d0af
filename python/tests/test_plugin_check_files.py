"""Files of every kind and name: refused or examined, and never waited for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="hostile plugins need Linux and cc"
)


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
    assert checked.failed[0].name == "file"
    assert said in checked.failed[0].detail
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


def test_a_file_that_may_not_be_read(honest, tmp_path):
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


@pytest.mark.parametrize("name", [b"\xff.so", b"two\nlines.so", "räksmörgås.so".encode(), b"[bold]x.so"])
def test_any_name_will_do(name, honest, tmp_path, capfd):
    path = tmp_path / os.fsdecode(name)
    shutil.copy(honest, path)
    checked = nk.plugin.check(path)
    assert checked.passed
    assert checked.summary()
    assert json.loads(checked.to_json())["passed"]
    assert endings.run_command(nanokata, ["plugin", "check", str(path)]) == 0
    assert "passed" in capfd.readouterr().out

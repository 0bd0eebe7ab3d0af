"""Reachable code: of a binary built here, and of the extension itself."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys

import pytest

import nanokata as nk
from nanokata import _core
from nanokata.cli import endings
from nanokata.cli.commands import nanokata

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="binaries for x86-64 Linux are what is decoded"
)

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) static int never(int x) { return x * 5 + leaf(x); }
int unreached(int x) { return never(x); }
int root(int x, int (*callback)(int)) { puts("x"); return leaf(x) + callback(x); }
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("built")
    (folder / "source.c").write_text(SOURCE)
    target = folder / "built.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", target, folder / "source.c"], check=True)
    return target


def test_what_is_reached_imported_and_unknown(built):
    found = nk.binary.reach(built, "root")
    sizes = {function.name: function.size for function in nk.binary.functions(built)}
    assert {function.name for function in found.functions} == {"root", "leaf"}
    assert found.bytes == sizes["root"] + sizes["leaf"]
    assert found.imports == ("puts",)
    (unknown,) = found.unknown
    assert unknown.function == "root"
    assert unknown.text.startswith("call ")
    assert nk.binary.reach(built, "unreached").bytes >= sizes["unreached"] + sizes["leaf"]
    assert nk.binary.reach(built, "root", without=["leaf"]).excluded == ("leaf",)


def test_it_is_held_against_this_machines_cache(built):
    found = nk.binary.reach(built, "root")
    l1i = nk.machine()["caches"]
    sizes = {cache["bytes"] for cache in l1i if cache["level"] == 1 and cache["kind"] == "instruction"}
    if not sizes:
        assert found.l1i_bytes is None
        assert found.ratio is None
        return
    assert found.l1i_bytes in sizes
    assert found.ratio == found.lines * found.line_bytes / found.l1i_bytes
    text = found.summary()
    assert "fits" in text
    assert "targets unknown: 1" in text
    assert max(map(len, text.splitlines())) <= 80
    assert json.loads(found.to_json())["bytes"] == found.bytes


def test_the_extension_knows_its_own_code():
    names = [function.name for function in nk.binary.functions(None, "table_compact")]
    assert names
    root = max(nk.binary.functions(None, "nanokata::"), key=lambda function: function.size)
    own = nk.binary.reach(None, root.symbol, without=["core::panicking"])
    by_path = nk.binary.reach(_core.__file__, root.symbol, without=["core::panicking"])
    assert own.functions == by_path.functions
    assert own.bytes >= root.size
    assert own.bytes <= own.lines * own.line_bytes


@pytest.mark.parametrize(
    ("symbol", "message"),
    [("rooot", "the nearest are root"), ("", 'no function called ""'), ("r", "fits")],
)
def test_a_function_that_isnt_there_is_refused(built, symbol, message):
    with pytest.raises(nk.BinaryError) as refused:
        nk.binary.reach(built, symbol)
    assert message in str(refused.value)
    assert str(built) in str(refused.value)


def test_other_files_are_refused(built, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a binary")
    with pytest.raises(nk.BinaryError, match="isn't an ELF file"):
        nk.binary.reach(text, "main")
    short = tmp_path / "short.so"
    short.write_bytes(built.read_bytes()[:3000])
    with pytest.raises(nk.BinaryError, match="damaged or cut short"):
        nk.binary.reach(short, "root")
    with pytest.raises(nk.BinaryError, match="absent"):
        nk.binary.functions(tmp_path / "absent")
    with pytest.raises(nk.WrongType, match="without"):
        nk.binary.reach(built, "root", without="leaf")
    with pytest.raises(nk.WrongType, match="symbol"):
        nk.binary.reach(built, 7)


def test_the_command(built, capfd):
    def run(*arguments):
        code = endings.run_command(nanokata, ["advise", *map(str, arguments)])
        return code, *capfd.readouterr()

    code, out, _ = run("--elf", built, "--symbol", "root")
    assert code == 0
    assert "code reachable from root" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = run("--elf", built, "--symbol", "root", "--json")
    assert (code, json.loads(out)["imports"]) == (0, ["puts"])
    code, _, err = run("--elf", built, "--symbol", "rooot")
    assert code == 2
    assert "the nearest are root" in err

"""Plugins in this process: loaded or refused by name, in one table with built-in handlers, and let go of."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata as command
from nanokata.plugin import passed

Packets = NDArray[np.void]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Return what the command line ends with, prints and says beside it."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = endings.run_command(command, arguments)
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return run


def _packets(keys: list[int], first: list[int]) -> Packets:
    packets = np.zeros(len(keys), nk.traffic.PACKET)
    packets["protocol"] = keys
    packets["payload"][:, 0] = first
    packets["payload"][:, 1] = np.arange(len(keys))
    return packets


@pytest.fixture(params=["v1", "v2"])
def shipped(request: pytest.FixtureRequest) -> nk.plugin.Plugin:
    return nk.plugin.load(nk.plugin.shipped()[request.param])


def test_both_editions_say_what_they_are(shipped: nk.plugin.Plugin) -> None:
    level_1 = shipped.path.name == "v1.so"
    assert (shipped.struct_size, shipped.has_batch, shipped.abi_version) == (40 if level_1 else 48, not level_1, 1)
    first = 2000 if level_1 else 2010
    assert shipped.claims == [(first, False), (first + 1, False), (first + 2, False), (first + 3, True)]
    assert shipped.sha256 == hashlib.sha256(shipped.path.read_bytes()).hexdigest()
    assert str(first) in shipped.summary()
    assert str(first) in shipped._repr_html_()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(2008, 2015), st.integers(0, 255)), min_size=1, max_size=300), st.integers(1, 300))
def test_a_plugin_computes_the_same_alone_in_batches_and_in_tables(packets: list[tuple[int, int]], batch: int) -> None:
    plugin = nk.plugin.load(nk.plugin.shipped()["v2"])
    given = _packets([key for key, _ in packets], [first for _, first in packets])
    alone, batched = plugin.process(given), plugin.process(given, batch=batch)
    assert np.array_equal(alone.values, batched.values)
    assert np.array_equal(alone.statuses, batched.statuses)
    handlers = nk.dispatch.HandlerSet(10).with_plugin(plugin)
    table, scan = (arm(handlers)(given) for arm in (nk.dispatch.table_compact, nk.dispatch.scan))
    assert table.checksum == scan.checksum
    assert table.handlers is not None
    taken = np.where(alone.statuses == 0, 10 + alone.claims, nk.dispatch.UNSUPPORTED)
    known = given["protocol"] >= 2010
    assert np.array_equal(table.handlers[known], taken[known])


def test_residual_claims_enter_residual_lists_only() -> None:
    handlers = nk.dispatch.HandlerSet(10, residual_share=0.0).with_plugin(nk.plugin.load(nk.plugin.shipped()["v2"]))
    ran = nk.dispatch.table_compact(handlers)(_packets([2010, 2013, 2013], [0, 3, 0]))
    assert ran.probes is not None
    assert ran.probes.tolist() == [1, 2, 2]
    with pytest.raises(nk.ResidualBoundExceeded):
        nk.dispatch.table_compact(handlers, residual_bound=0)


def test_a_race_takes_plugins_and_refuses_whoever_cannot_name_one() -> None:
    plugin = nk.plugin.load(nk.plugin.shipped()["v2"])
    handlers = nk.dispatch.HandlerSet(25, body="tiny").with_plugin(plugin)
    packets = nk.traffic.uniform(2_000, handlers, seed=3)
    raced = nk.race([nk.dispatch.scan(handlers), nk.dispatch.table_compact(handlers)], packets, quick=True, seconds=0.5)
    assert len({arm.checksum for arm in raced.arms}) == 1
    for mechanism in (*nk.dispatch.MECHANISMS, *nk.dispatch.PROPOSALS):
        with pytest.raises(nk.InvalidArgument, match="built-in handlers only"):
            mechanism(handlers)
    with pytest.raises(nk.InvalidArgument, match="plugin"):
        nk.advise(packets=packets, handlers=handlers)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(handlers)


def test_unloading_is_enforced_and_waits_for_live_handlers() -> None:
    plugin = nk.plugin.load(nk.plugin.shipped()["v2"])
    handlers = nk.dispatch.HandlerSet(10).with_plugin(plugin)
    packets = _packets([2010, 2011], [1, 2])
    expected = nk.dispatch.scan(handlers)(packets).checksum
    assert not plugin.unload(), "its handlers are alive"
    assert plugin.unloaded
    assert not plugin.unload()
    for use in (lambda: plugin.claims, lambda: plugin.process(packets), lambda: handlers.with_plugin(plugin)):
        with pytest.raises(nk.PluginRejected, match="unloaded") as refused:
            use()
        assert refused.value.field == "plugin"
    assert nk.dispatch.scan(handlers)(packets).checksum == expected
    assert "unloaded" in plugin.summary()
    with nk.plugin.load(nk.plugin.shipped()["v2"]) as other:
        assert not other.unloaded
    assert other.unloaded
    alone = nk.plugin.load(nk.plugin.shipped()["v2"])
    assert alone.unload(), "nothing needs it"


@pytest.mark.parametrize("given", [None, 7, "v2", object(), nk.dispatch.HandlerSet(2)])
def test_what_is_no_plugin_is_refused(given: object) -> None:
    with pytest.raises(nk.WrongType, match=r"nanokata\.plugin\.load"):
        nk.dispatch.HandlerSet(10).with_plugin(given)


@pytest.mark.parametrize("batch", [0, -1, 1.5, True])
def test_batches_are_whole_and_not_empty(batch: object) -> None:
    plugin = nk.plugin.load(nk.plugin.shipped()["v2"])
    with pytest.raises(nk.InvalidArgument):
        plugin.process(_packets([2010], [0]), batch=batch)  # type: ignore[arg-type]
    with pytest.raises(nk.PluginRejected, match="process_batch"):
        nk.plugin.load(nk.plugin.shipped()["v1"]).process(_packets([2000], [0]), batch=1)


def test_a_name_without_a_slash_is_a_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(nk.plugin.shipped()["v2"], tmp_path / "libc.so.6")
    monkeypatch.chdir(tmp_path)
    with pytest.warns(nk.UncheckedPlugin):
        plugin = nk.plugin.load("libc.so.6")
    assert plugin.path == tmp_path / "libc.so.6"


def test_an_unchecked_library_warns_until_it_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOKATA_HOME", str(tmp_path / "home"))
    copy = tmp_path / "mine.so"
    shutil.copy(nk.plugin.shipped()["v2"], copy)
    with pytest.warns(nk.UncheckedPlugin, match=r"mine\.so"):
        plugin = nk.plugin.load(copy)
    passed.remember(plugin.sha256)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nk.plugin.load(copy)


def test_a_library_built_anew_is_loaded_anew(tmp_path: Path) -> None:
    for name, first in (("v1", 2000), ("v2", 2010), ("v1", 2000)):
        (tmp_path / "mine.so").unlink(missing_ok=True)
        shutil.copy(nk.plugin.shipped()[name], tmp_path / "mine.so")
        with pytest.warns(nk.UncheckedPlugin):
            plugin = nk.plugin.load(tmp_path / "mine.so")
        assert plugin.claims[0].key == first


CONSTRUCTOR = """
#include "nanokata_plugin.h"
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void ran(void) { FILE *f = fopen(getenv("RAN"), "w"); if (f) fclose(f); }
NANOKATA_PLUGIN_EXPORT const NanokataPluginApi *nanokata_plugin(void) { return 0; }
"""


@pytest.fixture(scope="module")
def with_constructor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("constructor")
    (folder / "loud.c").write_text(CONSTRUCTOR)
    try:
        return nk.plugin.build(folder / "loud.c", folder / "loud.so").library
    except nk.CannotBuild as refusal:
        pytest.skip(str(refusal))


def test_what_is_not_on_the_list_never_runs(
    with_constructor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "ran"
    monkeypatch.setenv("RAN", str(mark))
    listed = tmp_path / "allowed"
    listed.write_text(f"{hashlib.sha256(with_constructor.read_bytes()).hexdigest()}  loud.so\n")
    tampered = tmp_path / "tampered.so"
    tampered.write_bytes(with_constructor.read_bytes() + b"\0")
    with pytest.raises(nk.PluginRejected, match="allowed") as refused:
        nk.plugin.load(tampered, allow=listed)
    assert refused.value.field == "sha256"
    assert not mark.exists(), "a constructor ran"
    # That it would have shows the very same code, allowed: it is opened, runs, and is refused for its null struct.
    with pytest.raises(nk.PluginRejected, match="null"):
        nk.plugin.load(with_constructor, allow=listed)
    assert mark.exists()


def test_sha256sum_writes_such_a_list(tmp_path: Path) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum here")
    library = nk.plugin.shipped()["v1"]
    wrote = subprocess.run(["sha256sum", str(library)], capture_output=True, check=True)
    (tmp_path / "allowed").write_bytes(wrote.stdout)
    assert nk.plugin.load(library, allow=tmp_path / "allowed").struct_size == 40


@pytest.mark.parametrize("text", ["", "# nothing\n", "v1.so\n", "0123  v1.so\n"])
def test_what_is_no_list_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "allowed").write_text(text)
    with pytest.raises(nk.InvalidArgument, match="allow"):
        nk.plugin.load(nk.plugin.shipped()["v1"], allow=tmp_path / "allowed")
    with pytest.raises(nk.InvalidArgument, match="no-such"):
        nk.plugin.load(nk.plugin.shipped()["v1"], allow=tmp_path / "no-such")


def test_the_command_shows_claims_and_refuses_by_code(tmp_path: Path, run: Run) -> None:
    code, shown, _ = run("plugin", "load", str(nk.plugin.shipped()["v2"]))
    assert (code, "2013" in shown) == (0, True)
    assert all(len(line) <= 80 or "site-packages" in line for line in shown.splitlines())
    (tmp_path / "text.so").write_text("no library")
    code, _, said = run("plugin", "load", str(tmp_path / "text.so"))
    assert code == 2
    assert "file = no ELF file" in said


def test_a_fault_in_a_plugin_is_named_before_anything_is_timed(tmp_path: Path) -> None:
    source = tmp_path / "failing.c"
    source.write_text(
        '#include "nanokata_plugin.h"\n'
        "static uint32_t keys(NanokataClaim *c, uint32_t n) { if (n) { c->key = 3000; c->flags = 0; } return 1; }\n"
        "static int x;\n"
        "static void *create(void) { return &x; }\n"
        "static void destroy(void *i) { (void)i; }\n"
        "static int32_t process(void *i, const NanokataPacketView *p, NanokataResult *r)\n"
        "{ (void)i; (void)r; return p->payload[0] == 9 ? -7 : NANOKATA_OK; }\n"
        "static const NanokataPluginApi API = { sizeof API, 1, keys, create, destroy, process, 0 };\n"
        "NANOKATA_PLUGIN_EXPORT const NanokataPluginApi *nanokata_plugin(void) { return &API; }\n"
    )
    try:
        built = nk.plugin.build(source, tmp_path / "failing.so")
    except nk.CannotBuild as refusal:
        pytest.skip(str(refusal))
    with pytest.warns(nk.UncheckedPlugin):
        plugin = nk.plugin.load(built.library)
    handlers = nk.dispatch.HandlerSet(10).with_plugin(plugin)
    assert nk.dispatch.scan(handlers)(_packets([3000], [1])).handlers is not None
    failing = _packets([3000, 3000], [1, 9])
    assert plugin.process(failing).statuses.tolist() == [0, -7]
    for use in (
        lambda: nk.dispatch.scan(handlers)(failing),
        lambda: nk.race([nk.dispatch.scan(handlers), nk.dispatch.hash_map(handlers)], failing, quick=True),
    ):
        with pytest.raises(nk.PluginRejected, match="error -7 for a packet of key 3000"):
            use()


@pytest.mark.skipif(sys.platform != "linux", reason="pcap made by hand")
def test_real_traffic_in_one_table_with_built_ins(tmp_path: Path, run: Run) -> None:
    capture = tmp_path / "few.pcap"
    capture.write_bytes(_capture([6, 6, 17, 253, 253, 1]))
    source = (nk.plugin.sources() / "plugins" / "v2.c").read_text()
    assert "2030" in source
    (tmp_path / "experimental.c").write_text(source.replace("2030", "253"))
    for name in ("handlers.h",):
        shutil.copy(nk.plugin.sources() / "plugins" / name, tmp_path / name)
    try:
        built = nk.plugin.build(tmp_path / "experimental.c", tmp_path / "experimental.so")
    except nk.CannotBuild as refusal:
        pytest.skip(str(refusal))
    shipped = str(nk.plugin.shipped()["v1"])
    code, shown, said = run("plugin", "load", str(built.library), shipped, "--capture", str(capture))
    assert code == 0, said
    assert "experimental.so was loaded without having passed" in said
    took = [line.split() for line in shown.splitlines() if line.startswith("     ")]
    assert [(int(line[0]), line[-1]) for line in took] == [
        (4, "handlers"),
        (2, str(built.library)),
        (0, shipped),
        (0, "nobody"),
    ]


def _capture(protocols: list[int]) -> bytes:
    """Return a little-endian pcap of Ethernet frames with an IPv4 header of each protocol."""
    header = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
    frames = b""
    for protocol in protocols:
        ip = bytes.fromhex("4500002800000000400000000a0000010a000002")
        ip = ip[:9] + bytes([protocol]) + ip[10:]
        frame = bytes(12) + b"\x08\x00" + ip + bytes(20)
        frames += bytes(8) + len(frame).to_bytes(4, "little") * 2 + frame
    return header + frames

"""Whatever a plugin does, a check returns, and says what it was."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from hostile_kinds import BENIGN, HANGS, KINDS

import nanokata as nk
from nanokata.plugin.passed import has_passed
from nanokata.store import StoreWarning

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="hostile plugins need Linux and cc"
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_is_wrong_is_named(kind, libraries):
    if kind.name not in libraries:
        pytest.skip("no Rust compiler here")
    checked = nk.plugin.check(libraries[kind.name])
    assert not checked.passed
    assert checked.exit_code == 1
    name, detail = checked.failed[0].name, checked.failed[0].detail
    assert (name, kind.said in detail) == (kind.check, True), detail
    assert checked.ended_in == kind.ended_in
    assert not has_passed(checked.sha256)


@pytest.mark.parametrize("kind", HANGS, ids=lambda kind: kind.name)
def test_what_hangs_is_ended_and_named(kind, libraries):
    checked = nk.plugin.check(libraries[kind.name], timeout=2)
    assert checked.failed[0].name == kind.check
    assert kind.said in checked[kind.check].detail
    assert checked.ended_in == kind.check
    assert checked["time"].outcome == "failed"
    # Far beyond the 2 s that it had: tells an end from a hang, on any machine.
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


CPP = """
#include "nanokata_plugin.h"
#include <map>
#include <string>
#include <vector>

namespace {
thread_local std::map<std::string, std::vector<int>> seen;
std::uint32_t claimed_keys(NanokataClaim *claims, std::uint32_t capacity) noexcept {
    if (capacity > 0) claims[0] = NanokataClaim{7, 0};
    return 1;
}
void *create() noexcept { return new std::vector<std::string>(3, "abc"); }
void destroy(void *instance) noexcept { delete static_cast<std::vector<std::string> *>(instance); }
std::int32_t process(void *, const NanokataPacketView *packet, NanokataResult *result) noexcept {
    seen["x"].assign(4, packet->payload[0]);
    *result = NanokataResult{std::uint64_t(seen["x"].back()), 0, 0, 0};
    return NANOKATA_OK;
}
} // namespace

const NanokataPluginApi *nanokata_plugin(void) {
    static const NanokataPluginApi api = {sizeof api, NANOKATA_PLUGIN_ABI_VERSION, claimed_keys, create, destroy,
                                          process, nullptr};
    return &api;
}
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_what_a_languages_library_brings_is_named_and_no_fault(tmp_path):
    (tmp_path / "real.cpp").write_text(CPP)
    # As somebody builds it who doesn't know of nanokata's list of exports.
    include, library = nk.plugin.sources() / "include", tmp_path / "real.so"
    options = ["-std=c++17", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{include}"]
    subprocess.run(["c++", *options, str(tmp_path / "real.cpp"), "-o", str(library)], check=True)
    checked = nk.plugin.check(library)
    assert checked.passed, checked.summary()
    weak = {export.name for export in checked.exports if export.weak}
    assert {export.name for export in checked.exports} - weak == {"nanokata_plugin"}
    assert f"{len(weak)} weak ones" in checked["exports"].detail
    assert weak
    assert checked["unload"].outcome == "not_applicable"
    assert "thread-locals" in checked["unload"].detail
    assert checked["unclaimed"].detail.startswith("survived: 0 told to be not its own, 0 errors")
    alone = nk.plugin.check(nk.plugin.build(tmp_path / "real.cpp", tmp_path / "alone.so").library)
    assert alone["exports"].detail == "nanokata_plugin alone"


def test_threads_that_stay_keep_the_library_open(libraries):
    checked = nk.plugin.check(libraries["living-spawns_threads"])
    assert [check.name for check in checked.failed] == ["threads"]
    assert checked["unload"].outcome == "not_applicable"


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

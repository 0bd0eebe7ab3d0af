"""Probes: each runs here or says why not, and each rule follows what was seen, not what is expected."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata as command
from nanokata.plugin import probing
from nanokata.plugin.probing.workshop import NotApplicable, Workshop


@pytest.fixture(scope="module")
def probed() -> probing.Probed:
    return nk.plugin.probes()


def test_each_has_an_outcome_and_a_reason(probed: probing.Probed) -> None:
    assert [finding.name for finding in probed.findings] == [probe.name for probe in probing.PROBES]
    for finding in probed.findings:
        assert finding.why
        if finding.outcome == "not applicable":
            assert "install" in finding.why, f"{finding.name} broke down: {finding.why} {finding.seen}"
        else:
            assert finding.seen
    assert json.loads(json.dumps(probed.to_dict()))[0]["name"] == "allocators"
    assert all(len(line) <= 80 for line in probed.summary().splitlines())
    assert repr(probed).startswith("<Probed: allocators ")
    with pytest.raises(KeyError):
        probed["nothing"]


def test_sources_and_probes_are_the_same_set() -> None:
    folders = {path.name for path in (nk.plugin.sources() / "probes").iterdir() if path.is_dir()}
    assert folders == {probe.name for probe in probing.PROBES}
    table = (nk.plugin.sources() / "probes" / "README.md").read_text()
    assert all(f"| `{name}` |" in table for name in folders)


DOCTORED: list[tuple[str, Callable[[dict[str, str]], dict[str, str]]]] = [
    ("allocators", lambda seen: {**seen, "plugin_took": seen["plugin_gave"]}),
    ("statics", lambda seen: {**seen, "plugin_static_at": seen["host_static_at"]}),
    ("panics", lambda seen: {**seen, "unwinding": "host_caught true"}),
    ("identity", lambda seen: {name: "some" if name.endswith("downcast") else value for name, value in seen.items()}),
    ("layout", lambda seen: {**seen, "by_rust_small": "1", "by_rust_big": "2"}),
    ("symbols", lambda seen: dict.fromkeys(seen, "the first calls 1, the second 2")),
    ("types", lambda seen: {**seen, "local_cast": "null"}),
    ("exceptions", lambda seen: {**seen, "noexcept_alone": "status 0"}),
    ("heap", lambda seen: {**seen, "note_after": seen["note_before"], "ended": "returned"}),
    ("new", lambda seen: {**seen, "static_same": "true"}),
    ("strings", lambda seen: {**seen, "linked": "yes", "now_opened": "yes"}),
]


def test_every_probe_has_a_doctored_observation() -> None:
    assert [name for name, _ in DOCTORED] == [probe.name for probe in probing.PROBES]


@pytest.mark.parametrize(("name", "doctor"), DOCTORED, ids=[name for name, _ in DOCTORED])
def test_another_observation_would_turn_the_outcome(
    name: str, doctor: Callable[[dict[str, str]], dict[str, str]], probed: probing.Probed
) -> None:
    finding = probed[name]
    if finding.outcome == "not applicable":
        pytest.skip(finding.why)
    [probe] = [probe for probe in probing.PROBES if probe.name == name]
    if name == "new" and "static_same" not in finding.seen:
        pytest.skip("no static C++ runtime here")
    other, _ = probe.judge(doctor(finding.seen))
    assert {other, finding.outcome} == {"confirmed", "refuted"}


def test_what_a_dead_host_did_not_print_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = probing.Probe("statics", "?", "folklore", "rule", lambda _: {"ended": "SIGSEGV"}, probing.STATICS.judge)
    monkeypatch.setattr(probing, "PROBES", (silent,))
    [finding] = nk.plugin.probes().findings
    assert finding.outcome == "not applicable"
    assert "host_static_at" in finding.why


def test_a_hanging_host_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    script = tmp_path / "hangs"
    script.write_text("#!/bin/sh\nsleep 300 & echo child=$! > started; wait\n")
    script.chmod(0o755)
    shop = Workshop(tmp_path, tmp_path, timeout=0.5)
    with pytest.raises(NotApplicable, match="no answer within"):
        shop.run(script)
    child = int((tmp_path / "started").read_text().partition("=")[2])
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        # It may wait to be reaped by whoever inherited it.
        if "Z" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]:
            return
        time.sleep(0.05)
    pytest.fail("what the host had started lives on")


def test_without_compilers_every_probe_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    for variable in ("CC", "CXX", "RUSTC"):
        monkeypatch.delenv(variable, raising=False)
    for finding in nk.plugin.probes().findings:
        assert finding.outcome == "not applicable"
        assert "install" in finding.why


def test_an_unknown_probe_is_refused_with_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(nk.UnknownProbe, match="did you mean panics") as refused:
        nk.plugin.probes("panic")
    assert refused.value.nearest[0] == "panics"
    assert endings.run_command(command, ["plugin", "probes", "nothing-like-it"]) == 2
    assert "there are allocators" in capfd.readouterr().err


def test_the_command_lists_and_shows() -> None:
    listed = CliRunner().invoke(command, ["plugin", "probes", "--list"])
    assert [line.split()[0] for line in listed.output.splitlines()] == [probe.name for probe in probing.PROBES]
    shown = CliRunner().invoke(command, ["plugin", "probes", "layout", "--json"])
    assert json.loads(shown.stdout)[0]["name"] == "layout"

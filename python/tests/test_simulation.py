"""Simulations: what they count, what they refuse, and what they leave behind."""

from __future__ import annotations

import copy
import json
import math
import os
import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import nanokata as nk
from nanokata import catalogue, presets
from nanokata.results.simulation import EVENTS, PARTS, SimulationResult

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind isn't installed")

SMALL = {"handlers": 100, "pool": 4096}
UNMOVED = tuple(event for event in EVENTS if event not in {"d1_misses", "ll_misses"})


def events(**counts):
    return {name: counts.get(name, 0) for name in EVENTS}


def document(settings=(("fat", 11.6), ("tiny", 0.01)), arms=("scan", "table"), **changes):
    """A document as the core writes it, with one setting a body."""

    def arm(name, misses):
        totals = events(instructions=100_000, i1_misses=int(1000 * misses), indirect_mispredicts=900)
        shares = {"loop": 60_000, "matches": 30_000, "process": 9_990, "other": 10}
        parts = [
            {
                "part": part,
                "calls": 1000,
                "exclusive": events(instructions=own),
                "inclusive": events(instructions=100_000 if part == "loop" else own),
            }
            for part, own in shares.items()
        ]
        return {
            "arm": name,
            "role": "arm",
            "operations": 1000,
            "totals": totals,
            "per_operation": {event: count / 1000 for event, count in totals.items()},
            "empty": events(instructions=9),
            "profile": {"parts": parts, "functions": []},
            "checksum": "0x1",
            "varies": None,
        }

    cache = {"bytes": 32768, "ways": 8, "line_bytes": 64}
    report = {
        "experiment": "dispatch.selection",
        "title": "What finding costs",
        "operation": "packet",
        "cells": [
            {
                "parameters": {"body": body, "handlers": 100, "pool": 1000},
                "arms": [arm(name, misses) for name in arms],
                "checks": [{"name": "bodies-distinct", "outcome": "held", "detail": "they are"}],
            }
            for body, misses in settings
        ],
        "checks": [{"name": "control:repeats", "outcome": "held", "detail": "equal in 2 runs"}],
        "facts": [
            {"name": "simulation:counts", "text": "these are counts", "value": None, "unit": "", "origin": "simulated"}
        ],
        "valgrind": "3.19.0",
        "geometry": {"i1": cache, "d1": cache, "ll": cache, "departures": []},
        "passes": 1,
        "runs": 2,
        "started": 1.0,
        "seconds": 2.0,
        "seed": 0,
        **changes,
    }
    return {"report": report, "exit_code": 0, "machine": {"id": "0" * 16, "cpu": {"model": "a CPU"}}, "version": "1"}


def test_rows_are_tidy_and_survive_json():
    result = SimulationResult(document())
    rows = result.rows()
    assert [(row["body"], row["arm"]) for row in rows] == [(b, a) for b in ("fat", "tiny") for a in ("scan", "table")]
    first = rows[0]
    assert (first["instructions"], first["i1_misses"], first["loop_exclusive"]) == (100.0, 11.6, 60.0)
    assert first["loop_inclusive"] == 100.0
    assert SimulationResult.from_json(result.to_json()).rows() == rows
    frame = result.to_pandas()
    assert list(frame.columns) == list(first)
    assert str(frame["started"].dtype).startswith("datetime64")


def test_no_parameter_collides_with_a_column():
    columns = set(SimulationResult(document()).rows()[0]) - {"body", "handlers", "pool"}
    for experiment in catalogue.experiments():
        assert not columns & {parameter.name for parameter in experiment.parameters}, experiment.id


def test_profile_shares_are_of_all_instructions():
    result = SimulationResult(document(settings=(("fat", 1.0),)))
    scan = result.profile["scan"]
    assert math.isclose(sum(scan.share(part) for part in PARTS), 1)
    assert scan.share("loop", inclusive=True) == 1.0
    assert scan.share("matches", event="i1_misses") == 0.0
    rows = result.profile.rows()
    assert len(rows) == 2 * len(PARTS) * 2
    assert {row["cost"] for row in rows} == {"exclusive", "inclusive"}
    with pytest.raises(KeyError):
        scan["somewhere"]


def test_settings_are_found_by_their_parameters():
    result = SimulationResult(document())
    assert result.cell(body="tiny")["scan"]["i1_misses"] == 0.01
    with pytest.raises(LookupError, match="body differs"):
        result.cell()
    with pytest.raises(LookupError, match="0 settings"):
        result.cell(body="slim")


def test_text_follows_the_numbers():
    summary = SimulationResult(document()).summary()
    assert all(len(line) <= 80 for line in summary.splitlines())
    assert "11.6" in summary
    assert "60 %" in summary
    assert "No check failed" in summary
    assert "these are counts" in summary
    failed = document()
    failed["report"]["checks"][0] |= {"outcome": "failed", "detail": "scan: instructions 5 and 6"}
    failed["exit_code"] = 3
    result = SimulationResult(failed)
    assert "No verdict: control:repeats failed" in result.summary()
    assert "instructions 5 and 6" in result.summary()
    assert {row["status"] for row in result.rows()} == {"no_verdict"}
    assert "<pre" in result._repr_html_()
    assert "<pre" in result.profile._repr_html_()


def test_figures_have_a_panel_an_event_and_every_count():
    result = SimulationResult(document())
    figure = result.plot()
    assert len(figure.axes) == 5
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["body fat: scan", "body fat: table", "body tiny: scan", "body tiny: table"]
    counts = [text.get_text() for text in figure.axes[1].texts]
    assert counts == ["11.6", "11.6", "0.010", "0.010"]
    assert len(result.plot(events=["ll_misses"]).axes) == 1
    with pytest.raises(nk.InvalidArgument, match="wanted some of instructions"):
        result.plot(events=["misses"])
    bars = result.profile.plot().axes[0]
    assert [text.get_text() for text in bars.get_legend().get_texts()] == list(PARTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"passes": 0}, "passes = 0"),
        ({"runs": 0}, "runs = 0"),
        ({"runs": 99}, "runs = 99"),
        ({"jobs": 0}, "jobs = 0"),
        ({"timeout": 0}, "timeout = 0"),
        ({"timeout": -1.0}, "timeout = -1"),
        ({"timeout": math.nan}, "timeout = NaN"),
        ({"timeout": "long"}, "timeout = 'long'"),
        ({"arms": []}, r"arms = \[\]"),
        ({"arms": 3}, "arms = 3"),
        ({"arms": [3]}, "arms = 3"),
        ({"preset": "cuases"}, "dispatch.mechanism has causes, original"),
        ({"handlrs": 3}, "takes traffic"),
        ({"handlers": 0}, "handlers = 0"),
        ({"handlers": [3, 3]}, "twice"),
        ({"handlers": list(range(1, 66))}, "at most 64"),
        ({"seed": -1}, "seed = -1"),
    ],
)
def test_unusable_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(nk.InvalidArgument, match=message):
        nk.simulate("dispatch.mechanism", **arguments)


def test_unknown_experiments_offer_the_nearest():
    with pytest.raises(nk.UnknownExperiment, match=r"dispatch\.mechanism"):
        nk.simulate("dispatch.mechansim")


def test_without_valgrind_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(nk.NotMeasurable, match="install it") as caught:
        nk.simulate("dispatch.mechanism")
    assert caught.value.what == "a simulation"


def test_presets_name_what_there_is():
    for experiment, named in presets.SIMULATED.items():
        known = catalogue.find(experiment)
        for preset in named.values():
            assert set(preset.values) <= {parameter.name for parameter in known.parameters}
            assert set(preset.arms) <= {arm.name for arm in known.arms}
        assert not set(named) & set(presets.PRESETS.get(experiment, {}))


def children():
    """Return the processes that this one has, zombies too."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        found += (task / "children").read_text().split()
    return found


@pytest.fixture
def own_temporary(monkeypatch, tmp_path):
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


@needs_valgrind
def test_the_causes_come_apart():
    result = nk.simulate("dispatch.mechanism", preset="causes", quick=True)
    assert result.exit_code == 0, result.checks

    def of(body, traffic, event):
        return result.cell(body=body, traffic=traffic)["dyn_trait"][event]

    # Code is fetched anew where fat bodies take turns, and nowhere else.
    fetched = of("fat", "zipf", "i1_misses")
    assert fetched > 1
    for body, traffic in (("fat", "hot"), ("tiny", "zipf"), ("tiny", "hot")):
        assert of(body, traffic, "i1_misses") < fetched / 20
    # Targets are missed where handlers take turns, however small their bodies.
    for body in ("fat", "tiny"):
        assert of(body, "zipf", "indirect_mispredicts") > 20 * of(body, "hot", "indirect_mispredicts")
    missed = [of(body, "zipf", "indirect_mispredicts") for body in ("fat", "tiny")]
    assert math.isclose(*missed, rel_tol=0.05)


@needs_valgrind
def test_counts_repeat_to_the_last_digit(own_temporary):
    first, second = (
        nk.simulate("dispatch.mechanism", traffic="zipf", body="fat", arms="dyn_trait", **SMALL, jobs=jobs)
        for jobs in (1, 2)
    )
    one, two = first["dyn_trait"].totals, second["dyn_trait"].totals
    assert [getattr(one, event) for event in UNMOVED] == [getattr(two, event) for event in UNMOVED]
    repeats = next(check for check in first.checks if check.name == "control:repeats")
    assert repeats.outcome == "held"
    assert not children()
    assert not list(own_temporary.iterdir())
    # Another seed, another traffic: the check compares something.
    other = nk.simulate("dispatch.mechanism", traffic="zipf", body="fat", arms="dyn_trait", **SMALL, seed=1, quick=True)
    assert other["dyn_trait"].totals.instructions != one.instructions


@needs_valgrind
def test_passes_scale_and_settle():
    one, three = (
        nk.simulate("dispatch.mechanism", traffic="hot", body="fat", arms="direct", **SMALL, passes=passes, quick=True)
        for passes in (1, 3)
    )
    assert three["direct"].operations == 3 * one["direct"].operations
    # Nothing is cold in the counted pass: one body fits.
    assert math.isclose(one["direct"]["instructions"], three["direct"]["instructions"], rel_tol=1e-2)
    assert one["direct"]["i1_misses"] < 0.01
    checks = [check for check in one.checks if check.name == "control:repeats"]
    assert [check.outcome for check in checks] == ["not_applicable"]


@needs_valgrind
def test_a_profile_names_the_function_not_the_line():
    result = nk.simulate("dispatch.selection", preset="profile", pool=4096, quick=True)
    scan, table = (result.profile[arm] for arm in ("scan", "table_compact"))
    # What a profile by function calls dispatch is everything, whichever way the handler is found.
    for found in (scan, table):
        assert found.share("loop", inclusive=True) > 0.99
    # Of a scan most is the search: the loop's own code, and asking.
    assert scan.share("loop") + scan.share("matches") > 0.5 > scan.share("process")
    assert table.share("process") > 0.5
    # Asked as often as counted without a simulator.
    handlers = nk.dispatch.HandlerSet(100, body="fat", seed=0)
    assert scan["process"].calls == table["process"].calls
    assert scan["matches"].calls / result["scan"].operations > 20
    assert len(handlers) == 100


@needs_valgrind
def test_random_hash_keys_are_no_failed_control():
    result = nk.simulate("dispatch.selection", arms=["hash_map"], body="tiny", handlers=50, pool=4096)
    assert result.exit_code == 0
    check = next(check for check in result.checks if check.name == "control:repeats:hash_map")
    assert check.outcome == "not_applicable"
    assert "draws its keys anew" in check.detail
    assert result.rows()[0]["flags"] == "varies"


@needs_valgrind
def test_an_unknown_arm_is_refused_with_the_nearest():
    with pytest.raises(nk.InvalidArgument, match="did you mean dyn_trait"):
        nk.simulate("dispatch.mechanism", arms="dyn_triat", **SMALL)


@needs_valgrind
def test_threads_are_refused_with_the_reason():
    with pytest.raises(nk.NotMeasurable, match="one at a time"):
        nk.simulate("sharing.line", quick=True)


@needs_valgrind
def test_a_timeout_leaves_nothing_behind(own_temporary):
    with pytest.raises(nk.NotMeasurable, match="raise the timeout"):
        nk.simulate("dispatch.mechanism", arms="direct", **SMALL, timeout=0.05)
    assert not children()
    assert not list(own_temporary.iterdir())


@needs_valgrind
def test_an_interrupt_leaves_nothing_behind(own_temporary):
    begun = None

    def interrupt(_doing, _fraction):
        nonlocal begun
        if children():
            begun = begun or time.monotonic()
            raise KeyboardInterrupt

    # The callback hears of changes alone; the first ones come before there is a process.
    with pytest.raises(KeyboardInterrupt):
        nk.simulate("dispatch.mechanism", arms="direct", **SMALL, runs=16, jobs=1, progress=interrupt)
    assert begun is not None
    assert time.monotonic() - begun < 30  # not the minute that the other runs would take
    assert not children()
    assert not list(own_temporary.iterdir())


@needs_valgrind
def test_what_fails_under_valgrind_says_so(monkeypatch, own_temporary):
    from nanokata import simulation

    monkeypatch.setattr(simulation, "_BOOTSTRAP", "raise SystemExit('the last words')")
    with pytest.raises(nk.NotMeasurable, match="the last words"):
        nk.simulate("dispatch.mechanism", arms="direct", **SMALL, quick=True)
    monkeypatch.setattr(simulation, "_BOOTSTRAP", "pass")
    with pytest.raises(nk.NotMeasurable, match="without a word"):
        nk.simulate("dispatch.mechanism", arms="direct", **SMALL, quick=True)
    assert not list(own_temporary.iterdir())


@needs_valgrind
def test_the_command_prints_rows_and_draws(tmp_path):
    from nanokata.cli.commands import nanokata

    arguments = ["simulate", "dispatch.mechanism", "--arm", "direct", "--set", "handlers=20", "--set", "pool=1000"]
    arguments += ["--set", "body=fat,tiny", "--set", "traffic=hot", "--quick", "--json", "--out", str(tmp_path)]
    done = CliRunner().invoke(nanokata, arguments, standalone_mode=False)
    assert done.exception is None, done.output
    assert done.return_value == 0
    rows = json.loads(done.stdout)["rows"]
    assert [row["body"] for row in rows] == ["fat", "tiny"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "dispatch.mechanism.simulated.png",
        "dispatch.mechanism.profile.png",
    }


def test_a_document_is_not_changed_by_what_shows_it():
    given = document()
    before = copy.deepcopy(given)
    SimulationResult(given).summary()
    assert given == before


def test_the_process_loads_neither_numpy_nor_the_package():
    import subprocess

    from nanokata import simulation

    program, arguments = simulation._performer()
    *flags, _, bootstrap, file = arguments
    code = bootstrap.replace("core.perform_simulation(job)", "print(*sorted(sys.modules))")
    assert code != bootstrap
    ran = subprocess.run(
        [program, *flags, "-c", code, file, os.devnull],
        check=True,
        capture_output=True,
        text=True,
        env=simulation._environment(),
    )
    assert not {"numpy", "nanokata", "site"} & set(ran.stdout.split())

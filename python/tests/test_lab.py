from __future__ import annotations

import inspect
import json

import pytest

import nanokata as nk
from nanokata import catalogue


def test_the_catalogue_lists_what_scripts_rely_on():
    for experiment in nk.experiments():
        assert experiment.id == f"{experiment.area}.{experiment.name}"
        assert experiment.title
        assert experiment.unit.startswith("ns/")
        assert experiment.arms
        assert experiment.parameters
    assert {"dispatch.selection", "sharing.line", "cache.levels"} <= {item.id for item in nk.experiments()}


@pytest.mark.parametrize("experiment", nk.experiments(), ids=lambda experiment: experiment.id)
def test_each_experiment_is_a_function_with_its_own_signature(experiment):
    function = getattr(getattr(nk.lab, experiment.area), experiment.name)
    signature = inspect.signature(function)
    for parameter in experiment.parameters:
        default = signature.parameters[parameter.name].default
        assert default == (list(parameter.default) if parameter.series else parameter.default[0])
        assert f"{parameter.name} : " in function.__doc__
    for arm in experiment.arms:
        assert arm.name in function.__doc__
    assert {"quick", "seed", "cpu", "progress"} <= set(signature.parameters)
    assert experiment.area in dir(nk.lab)
    assert experiment.name in dir(getattr(nk.lab, experiment.area))


def test_names_that_arent_there_offer_the_nearest():
    with pytest.raises(AttributeError, match="it has"):
        nk.lab.cash  # noqa: B018
    with pytest.raises(AttributeError, match="levels"):
        nk.lab.cache.level  # noqa: B018
    with pytest.raises(nk.UnknownExperiment) as caught:
        nk.run("dispatch.selecton")
    assert caught.value.nearest[0] == "dispatch.selection"
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"handlers": 0}, "handlers"),
        ({"handlers": [10, 5000]}, "handlers"),
        ({"handlers": []}, "handlers"),
        ({"handlers": "many"}, "handlers"),
        ({"handlers": object()}, "handlers"),
        ({"handler": 3}, "handler"),
        ({"traffic": "nowhere.pcap"}, "traffic"),
        ({"exponent": float("nan")}, "exponent"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": -1.0}, "seconds"),
        ({"precision": 0.0}, "precision"),
        ({"margin": 2.0}, "margin"),
        ({"seed": -1}, "seed"),
        ({"cpu": -1}, "cpu"),
    ],
)
def test_unusable_settings_are_refused_before_anything_runs(settings, name):
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.run("dispatch.selection", **settings)
    assert caught.value.name == name


@pytest.mark.parametrize(("name", "several"), [("cache", "cache.levels"), ("lab", "dispatch.selection")])
def test_a_run_takes_one_experiment_and_says_so(name, several):
    with pytest.raises(nk.UnknownExperiment, match=f"one experiment is wanted: .*{several}"):
        nk.run(name)


def test_an_area_and_the_lab_stand_for_their_experiments():
    everything = tuple(experiment for experiment in nk.experiments() if experiment.area != "traps")
    assert catalogue.chosen("lab") == everything
    assert {experiment.area for experiment in catalogue.chosen("cache")} == {"cache"}
    assert [experiment.id for experiment in catalogue.chosen("cache.levels")] == ["cache.levels"]
    with pytest.raises(nk.UnknownExperiment) as caught:
        catalogue.chosen("cach")
    assert "cache" in caught.value.nearest


def test_a_preset_sets_what_isnt_given(monkeypatch):
    from nanokata import measure

    asked = []
    monkeypatch.setattr("nanokata._core.expected_seconds", lambda _, values, **__: asked.append(json.loads(values)))
    for experiment in ("dispatch.selection", "dispatch.mechanism"):
        measure.expected_seconds(experiment, preset="original", handlers=10)
        measure.expected_seconds(experiment, preset="original", pool=2048)
    assert asked == [{"pool": [32_768], "handlers": [10]}, {"pool": [2048]}] * 2


def test_the_original_pool_is_one_that_the_core_takes():
    result = nk.run("dispatch.mechanism", preset="original", handlers=10, traffic="hot", quick=True, seconds=0.2)
    assert result.cells[0].parameters["pool"] == 32_768


@pytest.mark.parametrize(
    ("experiment", "preset", "said"),
    [("dispatch.selection", "originl", "has original"), ("cache.levels", "original", "has no presets")],
)
def test_unknown_presets_are_refused_with_those_there_are(experiment, preset, said):
    with pytest.raises(nk.InvalidArgument, match=said) as caught:
        nk.run(experiment, preset=preset)
    assert caught.value.name == "preset"


def test_progress_never_falls_and_the_look_is_a_part_of_it():
    seen = []
    nk.run(
        "dispatch.mechanism",
        handlers=10,
        pool=2048,
        quick=True,
        seconds=1.0,
        companions=False,
        progress=lambda doing, fraction: seen.append((doing, fraction)),
    )
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert max(fraction for doing, fraction in seen if doing == "the instrument") < 0.9
    assert seen[-1][0].startswith("dispatch.mechanism")


def test_a_runs_time_is_known_from_its_bounds():
    from nanokata.measure import expected_seconds

    one = expected_seconds("dispatch.mechanism", handlers=10, body="tiny", traffic="hot", seconds=3.0)
    assert one == pytest.approx(4.0)
    two = expected_seconds("dispatch.mechanism", handlers=10, body="tiny", traffic=["hot", "uniform"], seconds=3.0)
    assert two == pytest.approx(7.0)
    with_companions = expected_seconds("dispatch.selection", handlers=10, seconds=3.0)
    assert with_companions > expected_seconds("dispatch.selection", handlers=10, seconds=3.0, companions=False)


def test_a_run_gives_typed_results(tmp_path):
    laws = ["hot", "uniform"]
    result = nk.run("dispatch.mechanism", handlers=10, body="tiny", traffic=laws, pool=2048, quick=True, seconds=0.2)
    assert [cell.parameters["traffic"] for cell in result.cells] == laws
    assert {arm.name for arm in catalogue.find("dispatch.mechanism").arms} == {arm.arm for arm in result.cells[0].arms}
    assert all(arm.low <= arm.median <= arm.high for cell in result.cells for arm in cell.arms)
    assert result.exit_code in {0, 1, 3}
    assert max(map(len, result.summary().splitlines())) <= 80
    assert json.loads(result.to_json())["machine"]["id"] == nk.machine().id
    result.plot().savefig(tmp_path / "figure.png")
    frame = result.to_pandas()
    assert set(frame["traffic"]) == {"hot", "uniform"}
    assert set(frame["machine"]) == {nk.machine().id}


def test_a_race_gives_typed_results(handlers, packets):
    arms = {
        "scan": nk.dispatch.scan(handlers),
        "again": nk.dispatch.scan(handlers),
        "map": nk.dispatch.hash_map(handlers),
    }
    result = nk.race(arms, packets, baseline="scan", control={"again": "scan"}, quick=True, seconds=0.2)
    assert [arm.role for arm in result.arms] == ["baseline", "control", "arm"]
    assert result["map"].probes.mean < result["scan"].probes.mean
    assert result.experiment == "race"
    assert "scan" in result.summary()


def test_a_race_takes_a_list_and_the_same_arm_twice(handlers, packets):
    scan = nk.dispatch.scan(handlers)
    result = nk.race([scan, scan], packets, quick=True, seconds=0.2)
    assert [arm.arm for arm in result.arms] == ["scan", "scan (2)"]


def test_arms_that_compute_something_else_are_an_error():
    import numpy as np

    handlers = nk.dispatch.HandlerSet.from_keys(
        np.array([5, 5], dtype=np.uint16),
        [nk.dispatch.Residual.mask(0, 1, 1), nk.dispatch.Residual.none()],
        body="tiny",
    )
    packets = nk.traffic.uniform(2048, handlers, unmatched=0.0)
    arms = [nk.dispatch.scan(handlers), nk.dispatch.scan_ordered(handlers, [1, 0])]
    with pytest.raises(nk.ChecksumMismatch) as caught:
        nk.race(arms, packets, quick=True)
    assert caught.value.got != caught.value.expected
    assert caught.value.arm == "scan_ordered"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"baseline": "nobody"}, "baseline"),
        ({"control": {"nobody": "scan"}}, "control"),
        ({"control": {"scan": "hash_map"}}, "control"),
        ({"order": "random"}, "order"),
        ({"arms": []}, "arms"),
        ({"arms": ["scan"]}, "arms"),
        ({"packets": 0}, "packets"),
    ],
)
def test_unusable_races_are_refused(change, name, handlers, packets):
    names = change.pop("arms", ["scan", "hash_map"])
    arms = [getattr(nk.dispatch, arm)(handlers) for arm in names]
    given = packets[: change.pop("packets")] if "packets" in change else packets
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.race(arms, given, **change)
    assert caught.value.name == name


@pytest.mark.parametrize("handlers", [[10, 10], ["10", "10"], [10, "10"], [10, 25, 10.0]])
def test_values_given_twice_are_refused(handlers):
    with pytest.raises(nk.InvalidArgument, match="once") as caught:
        nk.run("dispatch.selection", handlers=handlers)
    assert caught.value.name == "handlers"


@pytest.mark.parametrize("handlers", [True, [True]])
def test_a_flag_is_no_number(handlers):
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.run("dispatch.selection", handlers=handlers)
    assert caught.value.name == "handlers"

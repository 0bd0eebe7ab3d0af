from __future__ import annotations

import dataclasses
import json

import phased
import pytest
import synthetic

import nanokata as nk
from nanokata import phases
from nanokata.phases import KATAS, Examination, Job, Kata, KataInterrupted, KataRun, Phase, Runner, invariants, running
from nanokata.phases.plan import Setting
from nanokata.phases.plugin_dispatch import LIMIT_SECONDS, QUICK_LIMIT_SECONDS
from nanokata.results.records import Check

KATA = KATAS["plugin-dispatch"]
SETTING = Setting(quick=True, seed=3, cpu=None, progress=lambda *_: None)


def jobs():
    return [job for phase in KATA.phases for job in phase.jobs]


@pytest.mark.parametrize("job", jobs(), ids=lambda job: job.experiment)
def test_every_experiment_of_a_phase_is_in_the_catalogue_and_takes_its_parameters(job):
    experiment = next(item for item in nk.experiments() if item.id == job.experiment)
    for name, value in {**job.parameters, **job.quick}.items():
        parameter = experiment.parameter(name)
        assert parameter is not None
        assert parameter.series or not isinstance(value, list) or len(value) == 1


def test_phases_are_numbered_in_order_and_ask_something():
    assert [phase.number for phase in KATA.phases] == list(range(len(KATA.phases)))
    for phase in KATA.phases:
        assert phase.question.endswith("?")
        assert phase.jobs or phase.examine


@pytest.mark.parametrize(("quick", "limit"), [(False, LIMIT_SECONDS), (True, QUICK_LIMIT_SECONDS)])
def test_all_phases_together_stay_within_their_time(quick, limit):
    runner = Runner(KATA, quick=quick)
    assert 0 < runner.expected_seconds <= limit
    at, share = runner.share_of(KATA.phases[-1])
    assert at + share == pytest.approx(1.0)


@pytest.fixture
def asked(monkeypatch):
    """What nk.run was asked, which answers on paper."""
    calls = []

    def measured(experiment, *, progress, **settings):
        calls.append((experiment, settings))
        for part in (0.0, 0.5, 1.0):
            progress("racing", part)
        return phased.result(experiment)

    monkeypatch.setattr(nk, "run", measured)
    return calls


def test_each_experiment_takes_its_parameters_those_given_and_its_bound(asked):
    run = phases.run(phased.KATA, given={"handlers": 50}, preset="original", options={"seed": 4, "precision": None})
    assert [experiment for experiment, _ in asked] == ["dispatch.selection", "dispatch.mechanism", "cache.levels"]
    selection, mechanism, levels = (settings for _, settings in asked)
    assert selection["handlers"] == 50
    assert selection["preset"] == mechanism["preset"] == "original"
    assert (mechanism["body"], mechanism["seconds"], mechanism["handlers"]) == ("fat", 3.0, 50)
    assert "handlers" not in levels
    assert "preset" not in levels
    assert (selection["companions"], levels["companions"]) == (False, True)
    assert all(settings["seed"] == 4 and "precision" not in settings for _, settings in asked)
    assert run.options == {"seed": 4, "preset": "original", "set": {"handlers": 50}}
    assert run.exit_code == 0


def test_a_quick_run_and_a_bound_of_ones_own(asked):
    phases.run(phased.KATA, quick=True)
    phases.run(phased.KATA, quick=True, seconds=0.75)
    assert asked[1][1]["body"] == "tiny"
    assert [settings["seconds"] for experiment, settings in asked if experiment == "dispatch.mechanism"] == [0.25, 0.75]
    assert all(settings["quick"] for _, settings in asked)


def test_progress_rises_from_nothing_to_all_over_the_whole(asked):
    seen = []
    phases.run(phased.KATA, progress=lambda doing, fraction: seen.append((doing, fraction)))
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert fractions[0] >= 0
    assert fractions[-1] == pytest.approx(1.0)
    assert seen[-1][0] == "phase 2: racing"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"given": {"handels": 3}}, "handels"),
        ({"given": {"handlers": 0}}, "handlers"),
        ({"given": {"body": "huge"}}, "body"),
        ({"preset": "unheard"}, "preset"),
        ({"seconds": 0.0}, "seconds"),
        ({"seconds": "long"}, "seconds"),
    ],
)
def test_what_no_experiment_takes_is_refused_before_anything_runs(asked, settings, name):
    with pytest.raises(nk.InvalidArgument) as caught:
        Runner(phased.KATA, **settings)
    assert caught.value.name == name
    assert not asked


@pytest.mark.parametrize(
    ("error", "code"),
    [(nk.NotMeasurable("one CPU only"), 3), (nk.ChecksumMismatch("other work"), 1), (nk.WorkerPanic("a bug"), 1)],
)
def test_an_experiment_that_gives_nothing_is_named_and_the_others_run(asked, monkeypatch, error, code):
    measured = nk.run

    def failing(experiment, **settings):
        if experiment == "dispatch.mechanism":
            raise error
        return measured(experiment, **settings)

    monkeypatch.setattr(nk, "run", failing)
    run = phases.run(phased.KATA)
    assert run.exit_code == code
    assert [result.experiment for result in run.results()] == ["dispatch.selection", "cache.levels"]
    assert run.problem("dispatch.mechanism").reason == str(error)
    assert str(error) in run.summary()


def test_an_experiment_that_isnt_built_is_named_not_made_up(asked):
    kata = Kata("paper", "", (Phase(0, "A", "B?", jobs=(Job("dispatch.unbuilt"),)),), ())
    run = phases.run(kata)
    assert not asked
    assert run.exit_code == 3
    assert "no experiment of that name" in run.problem("dispatch.unbuilt").reason


def test_an_unknown_fault_is_refused_and_one_that_few_arms_can_have_isnt(asked, monkeypatch):
    measured = nk.run

    def choosy(experiment, *, sabotage, **settings):
        if experiment in refusing:
            raise nk.InvalidArgument("no arm can have it", name="sabotage")
        return measured(experiment, **settings)

    monkeypatch.setattr(nk, "run", choosy)
    refusing = {"cache.levels"}
    assert phases.run(phased.KATA, options={"sabotage": "skip-residual"}).problem("cache.levels").exit_code == 3
    refusing = {"dispatch.selection", "dispatch.mechanism", "cache.levels"}
    with pytest.raises(nk.InvalidArgument):
        phases.run(phased.KATA, options={"sabotage": "unheard-of"})


def test_ctrl_c_keeps_what_is_finished_in_the_phase_too(asked, monkeypatch):
    measured = nk.run

    def interrupted(experiment, **settings):
        if experiment == "cache.levels":
            raise KeyboardInterrupt
        return measured(experiment, **settings)

    monkeypatch.setattr(nk, "run", interrupted)
    with pytest.raises(KataInterrupted) as caught:
        phases.run(phased.KATA)
    finished = caught.value.finished
    assert isinstance(caught.value, KeyboardInterrupt)
    assert [result.experiment for result in finished.results()] == ["dispatch.selection", "dispatch.mechanism"]
    assert [phase.interrupted for phase in finished.phases] == [False, False, True]
    assert finished.exit_code == 3
    assert "Interrupted in phase 2" in finished.summary()


def test_a_kata_is_run_by_its_name(asked, monkeypatch):
    from nanokata import measure

    monkeypatch.setitem(KATAS, "paper", phased.KATA)
    run = measure.run("paper", quick=True, seed=9, handlers=10)
    assert isinstance(run, KataRun)
    assert run.options == {"quick": True, "seed": 9, "set": {"handlers": 10}}
    with pytest.raises(nk.UnknownExperiment, match="paper"):
        phases.find("papre")


def failing_check(run):
    cells = [synthetic.selection_cell(100, checks=[synthetic.check("bodies-distinct", "failed")])]
    return phased.run(phased.result("dispatch.selection", cells), *run.results()[1:])


def test_the_worst_phase_decides_the_code():
    run = phased.run()
    assert run.exit_code == 0
    assert failing_check(run).exit_code == 1
    void = phased.selection(cells=[synthetic.selection_cell(100, status="no_verdict", reason="noise")])
    assert phased.run(void, *run.results()[1:]).exit_code == 3
    broken = phased.examined(checks=(Check("agrees:scan", "failed", "differs"),))
    assert phased.run(examined=broken).exit_code == 1
    unfit = phased.nk_doctor(false_verdicts=9)
    assert phased.run(examined=phased.examined(doctor=unfit)).exit_code == 1
    assert phased.run(problems=(phased.problem("dispatch.x", "too noisy"),)).exit_code == 3
    assert phased.run(interrupted=True).exit_code == 3


def test_a_run_survives_json():
    run = phased.run(problems=(phased.problem("dispatch.x", "too noisy"),), interrupted=True)
    text = run.to_json()
    again = KataRun.from_json(text, phased.KATA)
    assert again.to_json() == text
    assert again.summary() == run.summary()
    document = json.loads(text)
    assert document["exit_code"] == 3
    assert [phase["number"] for phase in document["phases"]] == [0, 1, 2]
    assert len(run.to_pandas()) == len(run.rows()) == sum(len(result.rows()) for result in run.results())


# Invariants: with the core, on what it really does.


def outcomes(make):
    return {check.name: check.outcome for check in make(SETTING)}


def test_every_invariant_holds():
    examined = invariants.examine(SETTING, ())
    assert {check.outcome for check in examined.checks} == {"held"}, [c for c in examined.checks if c.outcome != "held"]
    families = {check.name.partition(":")[0] for check in examined.checks}
    assert families == {"agrees", "order", "probes", "footprint", "bodies-distinct", "sabotage"}


def wrong_body(handlers):
    return nk.dispatch.scan(nk.dispatch.HandlerSet(len(handlers), body="tiny"))


def test_an_arm_that_does_other_work_disagrees(monkeypatch):
    monkeypatch.setattr(invariants, "SELECTIONS", (nk.dispatch.scan, wrong_body))
    assert outcomes(invariants._agreement)["agrees:wrong_body"] == "failed"
    assert outcomes(invariants._agreement)["agrees:scan"] == "held"


def test_an_arm_that_loses_the_order_is_seen(monkeypatch):
    def reversed_scan(handlers):
        return nk.dispatch.scan(handlers.reordered(list(handlers.order)[::-1]))

    monkeypatch.setattr(invariants, "KEEP_ORDER", (reversed_scan,))
    assert outcomes(invariants._order) == {"order:reversed_scan": "failed"}


def test_a_probe_too_many_is_seen(monkeypatch):
    real = nk.dispatch.expected_probes
    monkeypatch.setattr(nk.dispatch, "expected_probes", lambda arm: (found := real(arm)) and found + 1e-6)
    assert set(outcomes(invariants._probes).values()) == {"failed"}


def test_a_table_of_another_size_is_seen(monkeypatch):
    monkeypatch.setattr(invariants, "DIRECT16_LEAST", 1 << 22)
    monkeypatch.setattr(invariants, "COMPACT_LEAST", 1 << 10)
    assert set(outcomes(invariants._sizes).values()) == {"failed"}


def test_merged_bodies_are_seen():
    from nanokata.phases.bodies import distinct_check

    assert distinct_check("identical").outcome == "failed"
    assert distinct_check("fat").outcome == "held"


def test_a_harness_that_doesnt_watch_is_seen(monkeypatch):
    monkeypatch.setattr(nk, "race", lambda *_, **__: None)
    assert set(outcomes(invariants._sabotage).values()) == {"failed"}


def test_code_sizes_are_gathered_and_their_absence_is_said():
    from nanokata.phases import code_size

    facts = [
        phased.fact("code:fat", "180 KiB"),
        phased.fact("size:dyn", "2 KiB", 2048.0, "bytes"),
        phased.fact("x", ""),
    ]
    run = phased.run(phased.selection(facts=facts), phased.mechanism(facts=facts))
    found = code_size.examine(SETTING, run.phases).facts
    assert [fact.name for fact in found] == ["code:fat", "size:dyn"]
    with pytest.raises(nk.NotMeasurable):
        code_size.examine(SETTING, ())


def test_an_examination_that_cant_be_made_is_reported(asked):
    def examine(*_):
        raise nk.NotMeasurable("nothing to read")

    kata = Kata("paper", "", (Phase(0, "Sizes", "How much?", examine=examine),), ())
    run = phases.run(kata)
    assert run.exit_code == 3
    assert run.phases[0].problems[0].reason == "nothing to read"
    assert run.phases[0].examined == Examination()


def test_bounds_are_remembered_for_the_commands(asked):
    run = running.run(phased.KATA, quick=True)
    assert run.bounds["dispatch.mechanism"] == 0.25
    assert dataclasses.replace(phased.KATA, name="other").name == "other"

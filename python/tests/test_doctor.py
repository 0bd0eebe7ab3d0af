from __future__ import annotations

import json

import pytest
import synthetic

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata
from nanokata.instrument import Doctor, stored_doctor
from nanokata.store import Store, StoreWarning


@pytest.mark.parametrize(
    ("false_verdicts", "found", "code", "words"),
    [(0, 10, 0, "fit to measure"), (1, 10, 1, "not to be trusted"), (0, 9, 3, "too noisy"), (1, 0, 1, "not to be")],
)
def test_the_verdict_follows_the_rates(false_verdicts, found, code, words):
    doctor = Doctor(synthetic.doctor(false_verdicts=false_verdicts, found=found))
    assert doctor.exit_code == code
    assert words in doctor.verdict
    assert f"{10 * false_verdicts:.1f} % false verdicts" in doctor.verdict
    assert f"{10 * found} % of +2 % found" in doctor.verdict
    assert doctor.fit == (code == 0)


def test_the_summary_shows_rates_reasons_and_fits_80_columns():
    summary = Doctor(synthetic.doctor()).summary()
    assert "10 trials a body" in summary
    assert "100.0 % [90.0, 100.0]" in summary
    assert "without cycles: ENOENT: no hardware PMU" in summary
    assert "failed: 3 rounds" in summary
    assert max(map(len, summary.splitlines())) <= 80
    assert "resampled" in Doctor(synthetic.doctor(trials=0)).summary()


@pytest.mark.parametrize(
    ("ratio", "fit", "shown"),
    [(0.9999, True, "−0.01 % (−0.05…+0.03)"), (1.0053, True, "+0.53 % (+0.49…+0.57)"),
     (1.0055, False, "+0.55 % (+0.51…+0.59)"), (0.99, False, "−1.00 % (−1.04…−0.96)")],
)  # fmt: skip
def test_an_arm_that_differs_from_itself_makes_the_machine_unfit(ratio, fit, shown):
    document = synthetic.doctor()
    document["bodies"][0].update(synthetic.again(ratio))
    document["bodies"][1].update(synthetic.again(1.0))
    doctor = Doctor(document)
    assert doctor.fit == fit
    assert doctor.exit_code == (0 if fit else 1)
    assert ("differs from itself" in doctor.verdict) == (not fit)
    assert shown in doctor.summary()
    assert max(map(len, doctor.summary().splitlines())) <= 80


def test_older_documents_have_no_interval_of_an_arm_against_itself():
    document = synthetic.doctor()
    assert Doctor(document).fit
    assert "against itself" not in Doctor(document).summary()
    document["bodies"][0].update(again_ratio=None, again_low=None, again_high=None)
    assert Doctor(document).fit


def test_the_short_form_says_that_its_rates_are_calibration():
    assert "calibration only" in " ".join(Doctor(synthetic.doctor(trials=0)).summary().split())
    assert "calibration only" not in Doctor(synthetic.doctor()).summary()


def test_doctor_is_stored_for_later_runs(capfd):
    code = endings.run_command(nanokata, ["doctor", "--json"])
    out, _ = capfd.readouterr()
    found = json.loads(out)
    assert code in {0, 1, 3}
    assert {"false_verdict_rate", "detection_rate", "half_width", "floor_ns", "tick_ns", "machine"} <= found.keys()
    assert found["trials"] == 0
    assert found["method"] == "resampled blocks"
    known = stored_doctor(nk.machine())
    assert known is not None
    assert known.verdict == Doctor(found).verdict
    assert nk.run("cache.levels", working_set=4096, quick=True, seconds=0.2).doctor.verdict == known.verdict


def test_a_broken_store_doesnt_fail_a_run():
    store = Store()
    store.path.parent.mkdir(parents=True)
    store.path.write_bytes(b"no database" * 100)
    with pytest.warns(StoreWarning, match="left as it is"):
        result = nk.run("cache.levels", working_set=4096, quick=True, seconds=0.2)
    assert result.doctor is None


@pytest.mark.parametrize(
    ("options", "name"),
    [({"trials": 0}, "trials"), ({"trials": -1}, "trials"), ({"trial_seconds": 0.0}, "trial_seconds"),
     ({"trial_seconds": float("nan")}, "trial_seconds"), ({"trial_seconds": -1.0}, "trial_seconds"),
     ({"seed": -1}, "seed")],
)  # fmt: skip
def test_unusable_options_are_refused(options, name):
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.doctor(**options)
    assert caught.value.name == name


def test_trials_are_counted():
    found = nk.doctor(trials=2, trial_seconds=0.3)
    assert found["trials"] == 2
    assert all(body["raw_exclusion_rate"]["trials"] == 2 for body in found["bodies"])


def test_doctors_progress_never_falls_and_the_look_is_a_part():
    seen = []
    nk.doctor(trial_seconds=0.5, progress=lambda doing, fraction: seen.append((doing, fraction)))
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert max(fraction for doing, fraction in seen if doing == "the instrument") <= 0.5 + 1e-9
    assert any(0.5 <= fraction <= 1 for doing, fraction in seen if doing.startswith("doctor"))


def test_a_longer_doctor_isnt_replaced_by_a_shorter():
    store, card = Store(), nk.machine()
    from nanokata import _core

    store.save_doctor(card.id, _core.build_id(), 200, synthetic.doctor(trials=200))
    nk.doctor(trials=1, trial_seconds=0.2)
    assert stored_doctor(card)["trials"] == 200


@pytest.mark.parametrize("seconds", [1e-9, 0.0, 0.099, -1.0, float("nan"), float("inf")])
def test_trials_too_short_or_endless_are_refused(seconds):
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.doctor(trial_seconds=seconds)
    assert caught.value.name == "trial_seconds"

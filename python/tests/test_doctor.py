from __future__ import annotations

import json

import pytest
import synthetic

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.main import nanokata
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


def test_a_longer_doctor_isnt_replaced_by_a_shorter():
    store, card = Store(), nk.machine()
    from nanokata import _core

    store.save_doctor(card.id, _core.build_id(), 200, synthetic.doctor(trials=200))
    nk.doctor(trials=1, trial_seconds=0.2)
    assert stored_doctor(card)["trials"] == 200

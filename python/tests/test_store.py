from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import warnings

import pytest

import nanokata as nk
from nanokata import _core
from nanokata.instrument import stored_doctor
from nanokata.store import APPLICATION_ID, SCHEMA_VERSION, Store, StoreWarning, home

FOUND = {"verdict": "fit", "trials": 10}


def test_what_is_saved_is_found_again_for_this_machine_and_build():
    store = Store()
    assert store.doctor("m", "b") is None
    assert store.save_doctor("m", "b", 10, FOUND)
    assert store.doctor("m", "b") == FOUND
    assert store.doctor("m", "other") is None
    assert store.doctor("other", "b") is None


def test_fewer_trials_dont_replace_more():
    store = Store()
    store.save_doctor("m", "b", 200, FOUND)
    store.save_doctor("m", "b", 10, {"verdict": "short"})
    assert store.doctor("m", "b") == FOUND
    store.save_doctor("m", "b", 200, {"verdict": "newer"})
    assert store.doctor("m", "b") == {"verdict": "newer"}


def test_the_file_is_in_wal_mode_and_has_a_version():
    store = Store()
    store.save_doctor("m", "b", 1, FOUND)
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
        assert connection.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("pragma application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_home_moves_with_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("NANOKATA_HOME", str(tmp_path / "elsewhere"))
    assert home() == tmp_path / "elsewhere"
    assert Store().path.parent == tmp_path / "elsewhere"


def unusable(store):
    with pytest.warns(StoreWarning, match="left as it is"):
        assert store.doctor("m", "b") is None
    with pytest.warns(StoreWarning, match="aren't kept"):
        assert not store.save_doctor("m", "b", 1, FOUND)


def test_a_corrupt_file_is_told_and_left_alone(tmp_path):
    store = Store(tmp_path / "nanokata.sqlite3")
    store.path.write_bytes(b"this is no database, it is a letter" * 100)
    before = store.path.read_bytes()
    unusable(store)
    assert store.path.read_bytes() == before


def test_a_later_versions_file_is_told_and_left_alone(tmp_path):
    store = Store(tmp_path / "nanokata.sqlite3")
    connection = sqlite3.connect(store.path)
    connection.execute("pragma user_version = 99")
    connection.close()
    with pytest.warns(StoreWarning, match="later version"):
        assert store.doctor("m", "b") is None
    with pytest.warns(StoreWarning, match="later version"):
        assert not store.save_doctor("m", "b", 1, FOUND)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_directory_that_cant_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.warns(StoreWarning):
        assert not Store(tmp_path / "sub" / "nanokata.sqlite3").save_doctor("m", "b", 1, FOUND)


def test_a_home_that_is_a_file_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(StoreWarning):
        assert not Store(tmp_path / "file" / "nanokata.sqlite3").save_doctor("m", "b", 1, FOUND)


def test_a_transaction_that_fails_keeps_the_old_row():
    store = Store()
    store.save_doctor("m", "b", 1, FOUND)
    with pytest.raises(ZeroDivisionError), store._connection() as connection:
        connection.execute("delete from doctor")
        1 / 0  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.doctor("m", "b") == FOUND


def test_first_writers_at_once_lose_nothing():
    builds = [f"b{number}" for number in range(8)]
    together = threading.Barrier(len(builds))
    kept = []

    def write(build):
        together.wait()
        kept.append(Store().save_doctor("m", build, 1, FOUND))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads = [threading.Thread(target=write, args=(build,)) for build in builds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert kept == [True] * len(builds)
    assert all(Store().doctor("m", build) == FOUND for build in builds)


@pytest.mark.parametrize(
    "script",
    [
        "pragma user_version = 99",
        "pragma journal_mode = wal; create table doctor (x); pragma user_version = 99",
        "create table letters (x)",
        "pragma journal_mode = wal; create table letters (x)",
        "create table letters (x); pragma user_version = 1",
        "pragma application_id = 7",
    ],
)
def test_a_file_that_isnt_ours_keeps_every_byte(script, tmp_path):
    store = Store(tmp_path / "nanokata.sqlite3")
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        connection.executescript(script)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    unusable(store)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_file_from_before_the_mark_is_taken_over():
    store = Store()
    store.save_doctor("m", "b", 1, FOUND)
    with contextlib.closing(sqlite3.connect(store.path)) as connection:
        connection.execute("pragma application_id = 0")
    assert store.doctor("m", "b") == FOUND


@pytest.mark.parametrize("document", ["null", "{}", '{"trials": "a"}', "[1]", "{", '{"trials": 1, "bodies": 3}'])
def test_a_damaged_document_is_no_doctor(document):
    card = nk.machine()
    store = Store()
    store.save_doctor(card.id, _core.build_id(), 1, FOUND)
    with contextlib.closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("update doctor set document = ?", (document,))
    with pytest.warns(StoreWarning) as told:
        assert stored_doctor(card) is None
    assert len(told) == 1


def test_a_home_that_cant_be_told_is_told(monkeypatch):
    monkeypatch.setenv("NANOKATA_HOME", "~nosuchuser/x")
    with pytest.warns(StoreWarning, match="nosuchuser"):
        assert stored_doctor(nk.machine()) is None
    with pytest.warns(StoreWarning, match="aren't kept"):
        assert not Store().save_doctor("m", "b", 1, FOUND)


def test_a_result_survives_warnings_made_errors(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "nanokata.sqlite3").write_bytes(b"no database" * 100)
    code = (
        "import nanokata as nk; h = nk.dispatch.HandlerSet(5); p = nk.traffic.uniform(500, h);"
        "print(nk.race([nk.dispatch.scan(h), nk.dispatch.scan_keys(h)], p, quick=True, seconds=0.1).title)"
    )
    environment = {**os.environ, "NANOKATA_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "2 arms" in done.stdout
    assert "can't be used" in done.stderr

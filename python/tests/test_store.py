from __future__ import annotations

import os
import sqlite3
import warnings

import pytest

from nanokata.store import SCHEMA_VERSION, Store, StoreWarning, home

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

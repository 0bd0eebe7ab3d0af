"""What is kept between runs: one SQLite file in the user's data directory (``NANOKATA_HOME`` moves it).

Measuring never depends on it: where the file can't be read or written, a :class:`StoreWarning` says so, the file
stays as it is, and the run goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Store", "StoreWarning", "home"]

SCHEMA_VERSION = 1
_SCHEMA = """
create table doctor (
    machine text not null,
    build text not null,
    taken real not null,
    trials integer not null,
    document text not null,
    primary key (machine, build)
) strict, without rowid;
"""


class StoreWarning(UserWarning):
    """The store can't be used; the message says why and what that costs."""


def home() -> Path:
    """Return the directory that holds the store."""
    moved = os.environ.get("NANOKATA_HOME")
    if moved:
        return Path(moved).expanduser()
    import platformdirs

    return platformdirs.user_data_path("nanokata", appauthor=False)


class Store:
    """The file, opened for each use and closed again."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else home() / "nanokata.sqlite3"

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=5.0, isolation_level=None)
        try:
            connection.execute("pragma journal_mode = wal")
            (version,) = connection.execute("pragma user_version").fetchone()
            if version > SCHEMA_VERSION:
                message = f"it was written by a later version (schema {version}, this one knows {SCHEMA_VERSION})"
                raise sqlite3.DatabaseError(message)
            connection.execute("begin immediate")
            try:
                if version == 0:
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        connection.execute(statement)
                    connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
                yield connection
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")
        finally:
            connection.close()

    def _unusable(self, problem: Exception, cost: str) -> None:
        warnings.warn(
            f"{self.path} can't be used ({problem}): {cost}. It was left as it is; "
            "move it away, or set NANOKATA_HOME to another directory",
            StoreWarning,
            stacklevel=3,
        )

    def doctor(self, machine: str, build: str) -> dict[str, Any] | None:
        """Return the doctor's document for this machine and build, if one is stored."""
        if not self.path.exists():
            return None
        try:
            with self._connection() as connection:
                found = connection.execute(
                    "select document from doctor where machine = ? and build = ?", (machine, build)
                ).fetchone()
                return dict(json.loads(found[0])) if found else None
        except (sqlite3.Error, OSError, ValueError) as problem:
            self._unusable(problem, "the doctor's earlier findings aren't shown")
            return None

    def save_doctor(self, machine: str, build: str, trials: int, document: Mapping[str, Any]) -> bool:
        """Store the doctor's document; one with fewer trials doesn't replace one with more.

        Returns whether the store could be written.
        """
        try:
            with self._connection() as connection:
                connection.execute(
                    """
                    insert into doctor values (?, ?, ?, ?, ?) on conflict (machine, build) do update set
                    taken = excluded.taken, trials = excluded.trials, document = excluded.document
                    where excluded.trials >= doctor.trials
                    """,
                    (machine, build, time.time(), trials, json.dumps(dict(document))),
                )
        except (sqlite3.Error, OSError) as problem:
            self._unusable(problem, "the doctor's findings aren't kept for later runs")
            return False
        return True

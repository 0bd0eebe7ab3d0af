"""What is kept between runs: one SQLite file in the user's data directory (``NANOKATA_HOME`` moves it).

Measuring never depends on it: where the file can't be read or written, a :class:`StoreWarning` says so, the file
stays as it is, and the run goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["Store", "StoreWarning", "home"]

APPLICATION_ID = 0x6E6B6174
"""What marks the file as nanokata's (``nkat``), at byte 68 of its header."""
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
_TABLES = frozenset({"doctor"})
# https://www.sqlite.org/fileformat.html#the_database_header
_MAGIC, _HEADER_BYTES = b"SQLite format 3\x00", 100
_READ_VERSION, _USER_VERSION, _APPLICATION_ID = 19, 60, 68
_WAL = 2


NOT_SHOWN = "the doctor's earlier findings aren't shown"
"""What it costs where the store can't be read."""


class StoreWarning(UserWarning):
    """The store can't be used; the message says why and what that costs."""


def home() -> Path:
    """Return the directory that holds the store."""
    moved = os.environ.get("NANOKATA_HOME")
    if moved:
        return Path(moved).expanduser()
    import platformdirs

    return platformdirs.user_data_path("nanokata", appauthor=False)


def _refuse(version: int, application: int, tables: frozenset[str] | None) -> None:
    """Raise if a file of that version, mark and tables isn't one to write to; `tables` is None where not known yet."""
    if application not in {0, APPLICATION_ID}:
        raise sqlite3.DatabaseError(f"it belongs to another application (application_id {application:#x})")
    if version > SCHEMA_VERSION:
        message = f"it was written by a later version (schema {version}, this one knows {SCHEMA_VERSION})"
        raise sqlite3.DatabaseError(message)
    if tables is None or application == APPLICATION_ID:
        return
    # The first files carried no mark: they are told by their tables.
    if tables != (_TABLES if version else frozenset()):
        names = ", ".join(sorted(tables)) or "no table"
        raise sqlite3.DatabaseError(f"it isn't nanokata's (schema {version}, {names})")


def _seen(connection: sqlite3.Connection) -> tuple[int, int, frozenset[str]]:
    (version,) = connection.execute("pragma user_version").fetchone()
    (application,) = connection.execute("pragma application_id").fetchone()
    names = connection.execute("select name from sqlite_schema where name not like 'sqlite\\_%' escape '\\'")
    return version, application, frozenset(name for (name,) in names)


class Store:
    """The file, opened for each use and closed again."""

    def __init__(self, path: Path | None = None) -> None:
        self._given = path

    @property
    def path(self) -> Path:
        """Where the file is; raises ``RuntimeError`` where the user's home can't be told."""
        return self._given if self._given is not None else home() / "nanokata.sqlite3"

    def _look_first(self) -> None:
        """Raise if the file isn't one to write to, and leave no trace of having looked."""
        try:
            with self.path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except FileNotFoundError:
            return
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            return  # Empty, or SQLite itself says that it is no database.
        version = int.from_bytes(header[_USER_VERSION : _USER_VERSION + 4], "big")
        application = int.from_bytes(header[_APPLICATION_ID : _APPLICATION_ID + 4], "big")
        _refuse(version, application, None)
        if application == APPLICATION_ID:
            return
        # Reading a file in WAL mode leaves a `-shm` behind, unless nobody has it open and SQLite is told so.
        alone = header[_READ_VERSION] == _WAL and not Path(f"{self.path}-wal").exists()
        mode = "immutable=1" if alone else "mode=ro"
        with contextlib.closing(
            sqlite3.connect(f"{self.path.absolute().as_uri()}?{mode}", uri=True, timeout=5.0)
        ) as connection:
            _refuse(*_seen(connection))

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._look_first()
        connection = sqlite3.connect(self.path, timeout=5.0, isolation_level=None)
        try:
            connection.execute("begin immediate")
            try:
                # Looked at again: another process may have made the file since.
                version, application, tables = _seen(connection)
                _refuse(version, application, tables)
                if version == 0:
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        connection.execute(statement)
                    connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
                if application == 0:
                    connection.execute(f"pragma application_id = {APPLICATION_ID}")
                yield connection
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")
            if version == 0:
                # The mode stays with the file. Where another process is at it, that one works without.
                with contextlib.suppress(sqlite3.OperationalError):
                    connection.execute("pragma journal_mode = wal")
        finally:
            connection.close()

    def warn(self, problem: Exception, cost: str) -> None:
        """Say that the store can't be used; never raises, also where warnings are made errors."""
        try:
            where = str(self.path)
        except Exception:  # noqa: BLE001 (that the place can't be told may be the very problem)
            where = f"the store in {os.environ.get('NANOKATA_HOME') or 'the data directory'}"
        message = (
            f"{where} can't be used ({str(problem) or type(problem).__name__}): {cost}. It was left as it is; "
            "move it away, or set NANOKATA_HOME to another directory"
        )
        try:
            warnings.warn(message, StoreWarning, stacklevel=3)
        except StoreWarning:
            # A result that took minutes isn't lost over this.
            with contextlib.suppress(Exception):
                print(f"warning: {message}", file=sys.stderr)

    def doctor(self, machine: str, build: str) -> dict[str, Any] | None:
        """Return the doctor's document for this machine and build, if one is stored."""
        try:
            if not self.path.exists():
                return None
            with self._connection() as connection:
                found = connection.execute(
                    "select document from doctor where machine = ? and build = ?", (machine, build)
                ).fetchone()
            if found is None:
                return None
            document = json.loads(found[0])
            if not isinstance(document, dict):
                raise TypeError(f"a stored document is no object: {found[0][:40]}")  # noqa: TRY301
        except Exception as problem:  # noqa: BLE001 (whatever it is, measuring goes on)
            self.warn(problem, NOT_SHOWN)
            return None
        return document

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
        except Exception as problem:  # noqa: BLE001 (whatever it is, what was found is handed back)
            self.warn(problem, "the doctor's findings aren't kept for later runs")
            return False
        return True

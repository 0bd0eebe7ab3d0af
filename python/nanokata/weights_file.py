"""Weights from a text file: how often each key, or each handler, was seen; read row by row, whatever its size."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TextIO

from nanokata.errors import InvalidArgument

__all__ = ["WeightsFile", "read_weights"]

_KEYS = frozenset({"key", "protocol", "port"})
_LABELS = frozenset({"handler", "name"})
_WEIGHTS = frozenset({"count", "weight", "packets", "frequency", "hits"})
_DELIMITERS = ",;\t|"
_SNIFFED = 64 * 1024
MOST = 1 << 16
"""Most different keys: as many as 16 bits tell apart."""


@dataclass(frozen=True)
class WeightsFile:
    """What a file of weights says: each key or label once, in the order of first appearance."""

    path: str
    by: str
    """``key`` where the file names keys, ``handler`` where it names handlers or only lists their weights."""
    weights: dict[int | str, float] = field(repr=False)
    rows: int


def _refuse(path: str, line: int, name: str, value: str, wanted: str) -> InvalidArgument:
    where = f"{path}, line {line}"
    return InvalidArgument(f"{where}: {name} = {value!r}: {wanted}", name=name, value=value, wanted=wanted)


def read_weights(path: str | os.PathLike[str]) -> WeightsFile:
    """Read a file of comma-separated values (semicolons, tabs and bars are taken too) with a weight a row.

    The columns are ``key,count`` (keys are whole numbers from 0 to 65535, or 0x… in hexadecimal), or ``handler,count``
    (handlers by any name, in the order in which they are registered), or ``count`` alone (handlers in order); without
    a heading they stand in that order. ``protocol`` and ``port`` are keys too, ``weight``, ``packets``, ``frequency``
    and ``hits`` counts. Rows of one key are summed; blank rows and rows that begin with ``#`` are skipped.

    Raises
    ------
    InvalidArgument
        For a row that doesn't fit, with its line; for a file that isn't text, or that has no rows.
    OSError
        If the file can't be read.
    """
    name = os.fspath(path)
    try:
        with open(name, encoding="utf-8-sig", newline="") as text:  # noqa: PTH123 (bytes' names aren't taken by Path)
            return _read(name, text)
    except UnicodeDecodeError as problem:
        wanted = "wanted a text file in UTF-8, or a pcap or pcapng capture"
        seen = f"byte {problem.object[problem.start]:#04x}"
        raise InvalidArgument(f"{name}: {seen}: {wanted}", name="file", value=seen, wanted=wanted) from None


def _read(path: str, text: TextIO) -> WeightsFile:
    rows = _rows(path, text)
    first = next(rows, None)
    if first is None:
        wanted = "wanted at least one row with a count"
        raise InvalidArgument(f"{path}: no rows: {wanted}", name="file", value="no rows", wanted=wanted)
    columns, headed = _columns(path, *first)
    weights: dict[int | str, float] = {}
    by, count = columns.by, 0
    for line, row in rows if headed else chain([first], rows):
        if len(row) <= columns.last:
            raise _refuse(path, line, "row", ",".join(row), f"wanted {columns.last + 1} columns, as in the first row")
        if by is None:
            by = "key" if _whole(row[columns.key or 0]) is not None else "handler"
        key = _key(path, line, by, columns, row, count)
        weights[key] = weights.get(key, 0.0) + _weight(path, line, row[columns.weight])
        count += 1
        if len(weights) > MOST:
            raise _refuse(path, line, by, str(key), f"wanted at most {MOST} different ones")
    if not math.isfinite(total := sum(weights.values())) or total <= 0:
        wanted = "wanted counts with a finite sum above 0"
        raise InvalidArgument(
            f"{path}: counts sum to {total:g}: {wanted}", name="count", value=f"{total:g}", wanted=wanted
        )
    return WeightsFile(path, by or "handler", weights, count)


def _rows(path: str, text: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that says something, with its line."""
    start = text.read(_SNIFFED)
    text.seek(0)
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(start, _DELIMITERS)
    except csv.Error:
        dialect = csv.excel  # A single column, or rows too unlike each other: commas, and the row will be named.
    reader = csv.reader(text, dialect)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield reader.line_num, cells
    except csv.Error as problem:
        wanted = "wanted a row of comma-separated values"
        raise _refuse(path, reader.line_num, "row", str(problem), wanted) from None


@dataclass(frozen=True)
class _Columns:
    """Which column is which; `by` is ``None`` until the first row shows what its keys are."""

    key: int | None
    weight: int
    by: str | None

    @property
    def last(self) -> int:
        return max(self.key or 0, self.weight)


def _columns(path: str, line: int, row: list[str]) -> tuple[_Columns, bool]:
    """Return the columns, and whether this first row is a heading: a count that is no number makes it one."""
    names = [cell.lower() for cell in row]
    weight = next((at for at, name in enumerate(names) if name in _WEIGHTS), None)
    if weight is not None:
        key = next((at for at, name in enumerate(names) if name in _KEYS), None)
        label = next((at for at, name in enumerate(names) if name in _LABELS), None)
        if key is not None:
            return _Columns(key, weight, "key"), True
        if label is not None:
            return _Columns(label, weight, "handler"), True
    if len(row) > 2:
        known = ", ".join(sorted(_KEYS | _LABELS))
        counts = ", ".join(sorted(_WEIGHTS))
        wanted = f"of several columns a heading must name one of {known}, and one of {counts}"
        raise _refuse(path, line, "heading", ",".join(row), wanted)
    headed = _number(row[-1]) is None
    if len(row) == 1:
        return _Columns(None, 0, "handler"), headed
    return _Columns(0, 1, None), headed


def _key(path: str, line: int, by: str, columns: _Columns, row: list[str], index: int) -> int | str:
    if columns.key is None:
        return str(index)
    text = row[columns.key]
    if by == "handler":
        if not text:
            raise _refuse(path, line, "handler", text, "wanted a name")
        return text
    number = _whole(text)
    if number is None or not 0 <= number < MOST:
        raise _refuse(path, line, "key", text, f"wanted a whole number from 0 to {MOST - 1}")
    return number


def _weight(path: str, line: int, text: str) -> float:
    number = _number(text)
    if number is None or not math.isfinite(number) or number < 0:
        raise _refuse(path, line, "count", text, "wanted a finite number of 0 or more")
    return number


def _whole(text: str) -> int | None:
    try:
        return int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

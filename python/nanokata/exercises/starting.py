"""Beginning an exercise: its starter in a folder of the learner's own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from nanokata.errors import InvalidArgument, SystemCallError
from nanokata.results.records import Record

from .manifest import exercise

__all__ = ["Started", "start"]


@dataclass(frozen=True, slots=True)
class Started(Record):
    """What was put where: the source to work on, the brief, and the headers beside it that it needs."""

    exercise: str
    language: str
    source: Path
    brief: Path
    headers: tuple[Path, ...]


def start(name: str, folder: str | os.PathLike[str] = ".", *, language: str = "c", solution: bool = False) -> Started:
    """Copy an exercise's starter into a folder, which is made if it isn't there; nothing is ever overwritten.

    Parameters
    ----------
    name : str
        The exercise, as :func:`exercises` lists them.
    folder : path
        Where to.
    language : str
        ``"c"``, ``"rust"``, or for some ``"cpp"``.
    solution : bool
        Whether to copy the worked solution instead.

    Raises
    ------
    UnknownExercise
        If no exercise has that name.
    InvalidArgument
        If it can't be done in that language, or a file of that name is there already; then nothing is copied.
    SystemCallError
        If the folder can't be written.
    """
    chosen = exercise(name)
    files = chosen.within(language)
    given = files.solution if solution else files.starter
    to = Path(folder)
    source, brief = to / f"{chosen.id}{given.suffix}", to / f"{chosen.id}.md"
    headers = tuple(to / header.name for header in files.headers)
    wanted = [(given, source), (chosen.brief, brief), *zip(files.headers, headers, strict=True)]
    texts = {target: origin.read_bytes() for origin, target in wanted}
    # The brief and the headers are the same for every language: one that is there and says the same stays.
    missing = [target for target in texts if target == source or not _says(target, texts[target])]
    for target in missing:
        if os.path.lexists(target):
            raise _taken(target)
    try:
        to.mkdir(parents=True, exist_ok=True)
        for target in missing:
            with target.open("xb") as file:
                file.write(texts[target])
    except FileExistsError as error:
        raise _taken(Path(error.filename)) from None
    except OSError as error:
        raise SystemCallError(f"{error.filename}: {error.strerror}; give another folder") from error
    return Started(chosen.id, language, source, brief, headers)


def _says(path: Path, text: bytes) -> bool:
    return path.is_file() and path.read_bytes() == text


def _taken(path: Path) -> InvalidArgument:
    wanted = "nothing is overwritten: give another folder, or move it away"
    return InvalidArgument(f"{path} is there already; {wanted}", name="folder", value=repr(str(path)), wanted=wanted)

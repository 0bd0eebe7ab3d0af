"""The exercises that came with the package: one folder each, described by its ``exercise.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nanokata import arguments
from nanokata.errors import InvalidArgument, UnknownExercise
from nanokata.results.records import Record

__all__ = ["Exercise", "Files", "Kind", "exercise", "exercises", "language_of"]

Kind = Literal["arm", "select", "plugin", "plugin-struct"]
"""What is to be made: a whole arm, a selection, a plugin, or a plugin whose source is judged as well."""

_ENDINGS = {"c": ".c", "cpp": ".cpp", "rust": ".rs"}
_LANGUAGES = {**{ending: language for language, ending in _ENDINGS.items()}, ".cc": "cpp", ".cxx": "cpp"}


def language_of(path: Path) -> str | None:
    """Return ``"c"``, ``"cpp"`` or ``"rust"`` by a file's ending; `None` for any other."""
    return _LANGUAGES.get(path.suffix)


@dataclass(frozen=True, slots=True)
class Files(Record):
    """An exercise in one language: its starter, its worked solution, and the headers that belong beside them."""

    language: str
    starter: Path
    solution: Path
    headers: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Exercise(Record):
    """An exercise: what is to be made, in which languages, with which hints; `learnt` is said once it passes."""

    id: str
    title: str
    kind: Kind
    folder: Path
    hints: tuple[str, ...]
    learnt: str
    files: tuple[Files, ...]

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that it can be done in."""
        return tuple(files.language for files in self.files)

    @property
    def brief(self) -> Path:
        """Return the file that says what is to be done."""
        return self.folder / "README.md"

    def within(self, language: str) -> Files:
        """Return its files in a language, or raise :class:`InvalidArgument` where there are none."""
        for files in self.files:
            if files.language == language:
                return files
        wanted = f"{self.id} can be done in {', '.join(self.languages)}"
        text = f"language = {language!r}: {wanted}"
        raise InvalidArgument(text, name="language", value=repr(language), wanted=wanted)


def _read(folder: Path, include: Path) -> Exercise:
    described = tomllib.loads((folder / "exercise.toml").read_text(encoding="utf-8"))
    files = [
        Files(
            language,
            folder / named["starter"],
            folder / named["solution"],
            tuple(include / header for header in named.get("headers", ())),
        )
        for language, named in described["language"].items()
    ]
    return Exercise(
        described["id"],
        described["title"],
        described["kind"],
        folder,
        tuple(described["hints"]),
        described["learnt"].strip(),
        tuple(files),
    )


def exercises() -> tuple[Exercise, ...]:
    """Return every exercise, by name."""
    from nanokata import plugin

    sources = plugin.sources()
    folders = sorted(path.parent for path in (sources / "exercises").glob("*/exercise.toml"))
    return tuple(_read(folder, sources / "include") for folder in folders)


def exercise(name: str) -> Exercise:
    """Return the exercise of that name.

    Raises
    ------
    UnknownExercise
        If there is none; its `nearest` are those that look like it.
    """
    from nanokata.catalogue import nearest

    known = exercises()
    arguments.word("name", name, f"wanted an exercise's name: {', '.join(one.id for one in known)}")
    for one in known:
        if one.id == name:
            return one
    close = nearest(name, [one.id for one in known])
    listed = f"did you mean {' or '.join(close)}?" if close else "`nanokata exercise list` shows them"
    raise UnknownExercise(f"no exercise is called {name!r}; {listed}", name=name, nearest=close)

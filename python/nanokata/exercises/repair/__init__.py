"""Which fields of a source's structs may not cross to another compiler, library or language, and why."""

from __future__ import annotations

import os
from pathlib import Path

from nanokata.errors import InvalidArgument

from .broken import RULES, Broken, Rule

__all__ = ["RULES", "Broken", "Rule", "examine", "examine_text"]

_LANGUAGE_OF = {".rs": "rust", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp"}


def examine_text(source: str, language: str) -> tuple[Broken, ...]:
    """Return what :func:`examine` finds in a text in ``"rust"``, ``"c"`` or ``"cpp"``."""
    from . import c_family, rust

    if language not in _LANGUAGE_OF.values():
        wanted = "wanted rust, c or cpp"
        text = f"language = {language!r}: {wanted}"
        raise InvalidArgument(text, name="language", value=repr(language), wanted=wanted)
    found = rust.broken_in(source) if language == "rust" else c_family.broken_in(source, plus=language == "cpp")
    return tuple(found)


def examine(path: str | os.PathLike[str]) -> tuple[Broken, ...]:
    """Return every field, parameter and result in a source file that crosses and may not, line by line.

    What crosses are the structs that an exported function takes or returns, and the structs that those hold or point
    to; in Rust also public ``#[repr(C)]`` structs. Where nothing is exported every struct is judged. What is only
    reached through a void pointer stays on its own side. The source is read as it stands, without its headers, and
    macros aren't expanded: a name that it doesn't define is taken to be right unless a rule names it.

    Parameters
    ----------
    path : path
        A source in C, C++ or Rust, by its ending.

    Raises
    ------
    InvalidArgument
        If it can't be read, or its ending says nothing.
    """
    file = Path(path)
    language = _LANGUAGE_OF.get(file.suffix)
    wanted = f"wanted a source file that ends in {', '.join(_LANGUAGE_OF)}"
    if language is None:
        raise InvalidArgument(f"path = {str(file)!r}: {wanted}", name="path", value=repr(str(file)), wanted=wanted)
    try:
        source = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        text = f"path = {str(file)!r}: {error.strerror}; {wanted}"
        raise InvalidArgument(text, name="path", value=repr(str(file)), wanted=wanted) from None
    return examine_text(source, language)

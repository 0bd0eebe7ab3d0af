"""Which libraries passed the check here: by the SHA-256 of their bytes, so that a rebuilt one has to pass anew."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

from nanokata.store import StoreWarning, home

__all__ = ["has_passed", "remember"]


def _note(sha256: str) -> Path:
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        message = f"{sha256!r} is no SHA-256 in hexadecimal"
        raise ValueError(message)
    return home() / "checked-plugins" / sha256


def remember(sha256: str) -> None:
    """Note that a library of that hash passed; where that can't be written, warn."""
    note = _note(sha256)
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.touch()
    except OSError as error:
        message = f"that the library passed can't be kept ({error}): loading it will warn"
        warnings.warn(message, StoreWarning, stacklevel=2)


def has_passed(sha256: str) -> bool:
    """Return whether a library of that hash passed here before."""
    try:
        return _note(sha256).exists()
    except OSError:
        return False

"""Checking a library in a process of its own: a crash or a hang is a verdict, and never this process's end."""

from __future__ import annotations

from .checking import check
from .result import Checked, Export

__all__ = ["Checked", "Export", "check"]

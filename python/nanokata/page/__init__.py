"""A kata's run as a page: one self-contained file of HTML, and the same as Markdown beside its pictures."""

from __future__ import annotations

from .writing import write

__all__ = ["write"]

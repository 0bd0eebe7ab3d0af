"""The plugin boundary: build, examine and load packet handlers that were compiled apart from this package.

>>> import nanokata as nk
>>> nk.plugin.shipped()  # doctest: +SKIP
>>> nk.plugin.build("mine.c")  # doctest: +SKIP
"""

from __future__ import annotations

from .building import Built, build, shipped, sources

__all__ = ["Built", "build", "shipped", "sources"]

"""The plugin boundary: build, examine and load packet handlers that were compiled apart from this package.

>>> import nanokata as nk
>>> plugin = nk.plugin.load(nk.plugin.shipped()["v2"])  # doctest: +SKIP
>>> handlers = nk.dispatch.HandlerSet(100).with_plugin(plugin)  # doctest: +SKIP
>>> nk.plugin.build("mine.c")  # doctest: +SKIP
>>> nk.plugin.check("mine.so").passed  # doctest: +SKIP
"""

from __future__ import annotations

from nanokata.errors import UncheckedPlugin

from .arms import arm, select
from .building import Built, build, shipped, sources
from .checking import Checked, Export, check
from .loading import Claim, Plugin, Processed, load
from .probing import probes

__all__ = [
    "Built",
    "Checked",
    "Claim",
    "Export",
    "Plugin",
    "Processed",
    "UncheckedPlugin",
    "arm",
    "build",
    "check",
    "load",
    "probes",
    "select",
    "shipped",
    "sources",
]

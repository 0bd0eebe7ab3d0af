"""Loading a plugin into this process: its code runs here, with all that this process may do."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, SupportsIndex

from nanokata._core import Ran
from nanokata.errors import UncheckedPlugin
from nanokata.shown import Shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from nanokata import _core

__all__ = ["Claim", "Plugin", "Processed", "load"]


class Claim(NamedTuple):
    """One key that a plugin handles; of a residual claim only those of the key's packets that it takes."""

    key: int
    residual: bool


@dataclass(frozen=True, slots=True, eq=False)
class Processed:
    """What a plugin made of packets, one entry a packet; nothing of it is judged.

    Attributes
    ----------
    values : ndarray of uint64
        What it computed.
    claims : ndarray of uint16
        Under which claim: its place in :attr:`Plugin.claims`.
    statuses : ndarray of int32
        What it said: 0 processed, 1 not its own, negative for an error.
    ran : Ran
        Where it ran.
    """

    values: NDArray[np.uint64]
    claims: NDArray[np.uint16]
    statuses: NDArray[np.int32]
    ran: Ran


class Plugin(Shown):
    """A plugin in this process, until :meth:`unload`; made by :func:`load`.

    Give it to :meth:`HandlerSet.with_plugin <nanokata.dispatch.HandlerSet.with_plugin>`, and its claims are handlers
    like any other. They keep its library: what they need is never unloaded under them.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Plugin) -> None:
        self._core = core

    @property
    def path(self) -> Path:
        """The library's file."""
        return self._core.path

    @property
    def sha256(self) -> str:
        """SHA-256 of the bytes that were loaded, in hexadecimal."""
        return self._core.sha256

    @property
    def struct_size(self) -> int:
        """Bytes of its struct of functions, as it says: 40 at level 1 of the ABI, 48 at level 2."""
        return self._core.struct_size

    @property
    def abi_version(self) -> int:
        """What it says that its functions mean."""
        return self._core.abi_version

    @property
    def has_batch(self) -> bool:
        """Whether it has ``process_batch``."""
        return self._core.has_batch

    @property
    def claims(self) -> list[Claim]:
        """What it claims, in its own order."""
        return [Claim(*claim) for claim in self._core.claims]

    @property
    def stays(self) -> bool:
        """Whether its library stays until this process ends: it has thread-locals, whose destructors must find code."""
        return self._core.stays

    @property
    def unloaded(self) -> bool:
        """Whether :meth:`unload` was called."""
        return self._core.unloaded

    def unload(self) -> bool:
        """Let go of it; from now on every use raises ``PluginRejected``.

        Returns whether its library was closed. It isn't as long as a handler set or an arm with its handlers is alive,
        nor if it :attr:`stays`; nor if it was let go of before.
        """
        return self._core.unload()

    def process(
        self, packets: NDArray[np.void], *, batch: SupportsIndex | None = None, cpu: SupportsIndex | None = None
    ) -> Processed:
        """Lend it packets, of which it gets a fresh instance, on a thread of its own with the GIL released.

        Parameters
        ----------
        packets : ndarray of nanokata.traffic.PACKET
            One-dimensional.
        batch : int, optional
            How many at once, by ``process_batch``; by default one at a time, by ``process``.
        cpu : int, optional
            The CPU to pin that thread to.

        Raises
        ------
        PluginRejected
            If it was unloaded, has no instance to give or no ``process_batch``, or if a whole batch fails.
        """
        return Processed(*self._core.process(packets, batch=batch, cpu=cpu))

    def __enter__(self) -> Self:
        """Return it, to be unloaded at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Unload it."""
        self.unload()

    def __reduce__(self) -> str | tuple[object, ...]:
        """Refuse: what is loaded is in this process alone."""
        return self._core.__reduce__()

    def __repr__(self) -> str:
        return repr(self._core)

    def __rich__(self) -> RenderableType:
        """Return the table that shows it."""
        from nanokata.render.plugin import plugin_renderable

        return plugin_renderable(self)


def load(path: str | os.PathLike[str], *, allow: str | os.PathLike[str] | None = None) -> Plugin:
    """Load a plugin into this process.

    Its code runs here: a fault of its own is this process's. :func:`check` tries it in another process first, and
    remembers by its SHA-256 what passed; loading anything else warns.

    Parameters
    ----------
    path : path
        The library. A name without a slash is a file in the working directory.
    allow : path, optional
        A list of SHA-256 hashes as ``sha256sum`` writes it: what isn't on it is never opened, so that not even its
        constructors run. What is opened are the very bytes that were hashed; libraries that it needs in turn are on no
        list.

    Raises
    ------
    PluginRejected
        With the first field that is wrong: ``path``, ``field``, ``value`` and ``wanted`` say what.
    InvalidArgument
        If the list can't be read.

    Warns
    -----
    UncheckedPlugin
        If it neither came with this package nor passed :func:`check`.
    """
    from nanokata import _core

    from .passed import has_passed

    plugin = Plugin(_core.load_plugin(Path(path), allow=None if allow is None else Path(allow)))
    if plugin.path not in {known for _, known in _core.shipped_plugins()[0]} and not has_passed(plugin.sha256):
        # After the gates: who is refused needs no warning.
        message = (
            f"{plugin.path} was loaded without having passed `nanokata plugin check`: a fault of it ends this process"
        )
        warnings.warn(message, UncheckedPlugin, stacklevel=2)
    return plugin

"""Arms of one's own: compiled code, in any language, that joins a race."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from nanokata import arguments

if TYPE_CHECKING:
    from nanokata.dispatch import Arm, HandlerSet

__all__ = ["arm", "select"]


def arm(path: str | os.PathLike[str], handlers: HandlerSet) -> Arm:
    """Return the whole arm that a library exports as ``nanokata_arm``, over `handlers`.

    It finds, calls and folds by itself, and joins :func:`nanokata.race` beside the built-in arms: what computes
    something else is refused there, however fast it is. Its code runs in this process, and a fault of its own is this
    process's. It exists in one code layout where built-in arms have eight, and is flagged so.

    Parameters
    ----------
    path : path
        The library, as ``nanokata plugin build`` makes it of a source that includes ``nanokata_arm.h``. A name without
        a slash is a file in the working directory.
    handlers : HandlerSet
        What it dispatches to: built-in handlers only.

    Raises
    ------
    PluginRejected
        If the library or its struct can't be taken; in a race, if it can't be built for these handlers.
    InvalidArgument
        If the handlers have a plugin among them.
    """
    from nanokata import _core

    return _core.own_arm(Path(path), handlers)


def select(which: str | os.PathLike[str], handlers: HandlerSet) -> Arm:
    """Return a selection alone: it says who runs each packet of a batch, and nobody runs.

    Races only among its like: give :func:`nanokata.race` several of these. Built-in ones stand behind the same call.

    Parameters
    ----------
    which : path or str
        A library that exports ``nanokata_select``; or a built-in selection by its name, as ``"table_compact"``
        (one of :data:`nanokata.dispatch.SELECTIONS`).
    handlers : HandlerSet
        Who can run: built-in handlers only.

    Raises
    ------
    PluginRejected
        If the library or its struct can't be taken.
    InvalidArgument
        If the handlers have a plugin among them.
    """
    from nanokata import _core
    from nanokata.dispatch import SELECTIONS

    names = [selection.__name__ for selection in SELECTIONS]
    given: object = which
    if given in names:
        return _core.selection_alone(str(which), handlers)
    if not isinstance(given, (str, os.PathLike)):
        raise arguments.wrong_type("which", which, f"wanted a library's path, or one of {', '.join(names)}")
    return _core.own_selection(Path(which), handlers)

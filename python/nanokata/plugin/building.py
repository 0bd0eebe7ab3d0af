"""Plugins to load: those that came with the package, and those built from a source file on the spot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nanokata import arguments
from nanokata.results.records import Record

__all__ = ["Built", "build", "shipped", "sources"]


@dataclass(frozen=True, slots=True)
class Built(Record):
    """A library that was built: its path, the compiler, the command to type again, and what the compiler warned of."""

    library: Path
    compiler: str
    command: str
    warnings: str


def shipped() -> dict[str, Path]:
    """Return the example plugins that came with the package, in Rust, by name.

    ``v1`` was built against the first edition of the ABI and has no ``process_batch``; ``v2`` has. Both load where
    there is no compiler.
    """
    from nanokata import _core

    return dict(_core.shipped_plugins()[0])


def sources() -> Path:
    """Return the folder of what a learner builds: headers (``include``), plugins (``plugins``), and others."""
    from nanokata import _core

    return _core.shipped_plugins()[1]


def build(
    source: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    compiler: str | None = None,
    options: Sequence[str] = (),
) -> Built:
    """Build a library from one source file with the system's compiler.

    Parameters
    ----------
    source : path
        A file in C (``.c``), C++ (``.cpp``, ``.cc``, ``.cxx``) or Rust (``.rs``). nanokata's headers are found
        without a path.
    output : path, optional
        The library; by default the source's name with ``.so``, in the working directory.
    compiler : str, optional
        A compiler other than the system's; by default ``CC``, ``CXX`` or ``RUSTC`` from the environment, or else the
        usual names.
    options : sequence of str
        Further options, behind the usual ones (``-O3 -fPIC -shared -fvisibility=hidden``; ``-Copt-level=3``).

    Raises
    ------
    CannotBuild
        Without a compiler, or with its own words if it fails.
    InvalidArgument
        If the source isn't there, or its ending says nothing.
    """
    from nanokata import _core

    path = Path(source)
    made = Path(output) if output is not None else Path(path.name).with_suffix(".so")
    words = [arguments.word("options", option, "wanted a list of texts") for option in options]
    return Built(*_core.build_plugin(path, made, compiler=compiler, options=words))

"""The failures that a C boundary makes impossible, provoked: each in a process of its own, judged by what was seen."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from nanokata import arguments
from nanokata.errors import UnknownProbe

from .identity import IDENTITY, LAYOUT, STRINGS, SYMBOLS, TYPES
from .memory import ALLOCATORS, HEAP, NEW, STATICS
from .probe import Finding, Probe, Probed
from .unwinding import EXCEPTIONS, PANICS
from .workshop import NotApplicable, Workshop

__all__ = ["PROBES", "Finding", "Probe", "Probed", "probes"]

PROBES: tuple[Probe, ...] = (
    ALLOCATORS,
    STATICS,
    PANICS,
    IDENTITY,
    LAYOUT,
    SYMBOLS,
    TYPES,
    EXCEPTIONS,
    HEAP,
    NEW,
    STRINGS,
)
"""All of them: Rust's own first, then C's, then C++'s."""


def probes(
    names: str | Sequence[str] | None = None,
    *,
    timeout: float = 60.0,
    progress: Callable[[str, float], object] | None = None,
) -> Probed:
    """Provoke the failures that the plugin ABI rules out, and say what was seen on this machine.

    Each probe is compiled here and run in a process of its own, since some of them end it.

    Parameters
    ----------
    names : str or sequence of str, optional
        Which; all by default. :data:`PROBES` has them.
    timeout : float
        Seconds for each compilation and each run.
    progress : callable, optional
        Called before each probe with its name and the fraction behind us.

    Returns
    -------
    Probed
        A finding each: the folklore confirmed or refuted, or why the probe can't be made here (no compiler).

    Raises
    ------
    UnknownProbe
        If there is none of that name.
    """
    seconds = arguments.real("timeout", timeout)
    chosen = _named([names] if isinstance(names, str) else names)
    findings = []
    for place, probe in enumerate(chosen):
        if progress is not None:
            progress(probe.name, place / len(chosen))
        findings.append(_found(probe, seconds))
    return Probed(tuple(findings))


def _named(names: Sequence[str] | None) -> list[Probe]:
    if names is None:
        return list(PROBES)
    known = {probe.name: probe for probe in PROBES}
    for name in names:
        arguments.word("names", name, "wanted a probe's name")
        if name not in known:
            from nanokata.catalogue import nearest

            close = tuple(nearest(name, list(known)))
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
            raise UnknownProbe(f"no probe is called {name!r}; {hint}", name=name, nearest=close)
    return [known[name] for name in names]


def _found(probe: Probe, timeout: float) -> Finding:
    from nanokata.plugin import sources

    def finding(outcome: str, why: str, seen: dict[str, str]) -> Finding:
        return Finding(probe.name, probe.question, probe.folklore, probe.rule, outcome, why, seen)  # type: ignore[arg-type]

    with tempfile.TemporaryDirectory(prefix="nanokata-probe-") as folder:
        shop = Workshop(sources() / "probes" / probe.name, Path(folder), timeout=timeout)
        try:
            seen = probe.look(shop)
        except NotApplicable as reason:
            return finding("not applicable", str(reason), {})
    try:
        outcome, why = probe.judge(seen)
    except KeyError as missing:
        # A host that died before it printed what the rule needs: shown, not guessed at.
        return finding("not applicable", f"the probe didn't get as far as {missing.args[0]}", seen)
    return finding(outcome, why, seen)

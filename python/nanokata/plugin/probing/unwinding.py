"""Probes of what leaves a function otherwise than by returning: Rust's panics, C++'s exceptions."""

from __future__ import annotations

from .probe import Judged, Probe, Seen
from .workshop import Ran, Workshop

_OF_PANICS = ("plain", "unwinding", "contained", "twice", "deep")


def _ended(ran: Ran) -> str:
    said = ", ".join(f"{name} {value}" for name, value in ran.seen.items())
    if not ran.died:
        return said or "returned"
    return f"{ran.ended}: {ran.complaint}" if ran.complaint else ran.ended


def _look_at_panics(shop: Workshop) -> dict[str, str]:
    host, plugin = shop.program("host.rs", "host"), shop.library("plugin.rs", "plugin")
    seen = {name: _ended(shop.run(host, plugin, name)) for name in _OF_PANICS}
    aborting = shop.library("plugin.rs", "aborting", "-Cpanic=abort")
    return {**seen, "contained_with_panic_abort": _ended(shop.run(host, aborting, "contained"))}


def _judge_panics(seen: Seen) -> Judged:
    caught = seen["unwinding"] == "host_caught true"
    inside = "its own catch_unwind contains it" if seen["contained"] == "status -1" else "not even its own contains it"
    vain = [name for name in ("twice", "deep", "contained_with_panic_abort") if seen[name] != "status -1"]
    rest = f"; in the plugin {inside}, but for {', '.join(vain)}" if vain else f"; in the plugin {inside}"
    if caught:
        return "confirmed", f"the host's catch_unwind caught it{rest}"
    return "refuted", f"the host's catch_unwind caught nothing ({seen['unwinding']}){rest}"


def _look_at_exceptions(shop: Workshop) -> dict[str, str]:
    host, plugin = shop.program("host.cpp", "host"), shop.library("plugin.cpp", "plugin")
    names = ("noexcept_alone", "contained", "crossing")
    seen = {name: _ended(shop.run(host, plugin, name)) for name in names}
    options = ("-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL")
    code, _ = shop.try_to_compile("plugin.cpp", shop.folder / "libstatic.so", "-shared", *options)
    if code == 0:
        seen["crossing_with_a_static_runtime"] = _ended(shop.run(host, shop.folder / "libstatic.so", "crossing"))
    return seen


def _judge_exceptions(seen: Seen) -> Judged:
    caught = seen["contained"] == "status -1"
    alone = seen["noexcept_alone"].partition(":")[0]
    crossing = f"uncontained it came as {seen['crossing']}"
    if "crossing_with_a_static_runtime" in seen:
        crossing += f", from a static runtime as {seen['crossing_with_a_static_runtime']}"
    if alone == "status 0":
        return "confirmed", f"noexcept alone returned; {crossing}"
    status = "with a catch it is a status" if caught else "not even a catch makes a status of it"
    return "refuted", f"noexcept alone ended the process ({alone}); {status}; {crossing}"


PANICS = Probe(
    "panics",
    "A plugin panics: what do extern \"C\", the host's catch_unwind and the plugin's own make of it?",
    "a catch_unwind around the call contains a plugin's panic",
    "nothing unwinds across: each entry point catches for itself and returns a status",
    _look_at_panics,
    _judge_panics,
)
EXCEPTIONS = Probe(
    "exceptions",
    "A C++ plugin throws: what do noexcept, a catch of its own and the host's catch make of it?",
    "noexcept on the entry points is enough",
    "nothing unwinds across: each entry point catches for itself and returns a status",
    _look_at_exceptions,
    _judge_exceptions,
)

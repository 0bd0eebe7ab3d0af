"""Probes of memory: whose allocator, whose statics, whose heap, whose operator new."""

from __future__ import annotations

from .probe import Judged, Probe, Seen
from .workshop import Workshop


def _look_at_allocators(shop: Workshop) -> dict[str, str]:
    host = shop.program("host.rs", "host")
    counting = shop.run(host, shop.library("plugin.rs", "counting"))
    arena = shop.run(host, shop.library("plugin.rs", "arena", "--cfg", "arena"))
    return {
        **counting.seen,
        "over_malloc": counting.ended,
        "over_an_arena": arena.ended,
        "arena_complaint": arena.complaint,
    }


def _judge_allocators(seen: Seen) -> Judged:
    gave, took, host = (seen.get(name) for name in ("plugin_gave", "plugin_took", "host_took"))
    if gave == took:
        return "confirmed", f"the plugin's allocator gave {gave} and took {took} back"
    end = seen["over_an_arena"]
    death = f"; over an arena the host ended with {end}" if end != "returned" else ""
    return "refuted", f"the plugin's allocator gave {gave} and took {took} back, the host's took {host}{death}"


def _look_at_statics(shop: Workshop) -> dict[str, str]:
    return dict(shop.run(shop.program("host.rs", "host"), shop.library("plugin.rs", "plugin")).seen)


def _judge_statics(seen: Seen) -> Judged:
    one = seen["host_static_at"] == seen["plugin_static_at"]
    counts = (
        f"the host's static is {seen['host_static']} and the plugin's {seen['plugin_static']}, "
        f"thread-locals {seen['host_thread_local']} and {seen['plugin_thread_local']}"
    )
    if one:
        return "confirmed", f"both sides see one static: {counts}"
    return "refuted", f"each side has its own: {counts}"


def _look_at_heap(shop: Workshop) -> dict[str, str]:
    ran = shop.run(shop.program("host.cpp", "host"), shop.library("plugin.cpp", "plugin", "-fno-builtin"))
    return {**ran.seen, "ended": ran.ended, "complaint": ran.complaint}


def _judge_heap(seen: Seen) -> Judged:
    before, after, status = seen["note_before"], seen["note_after"], seen["status"]
    said = f"the plugin returned {status}; the word before the host's own chunk was {before} and is {after}"
    died = f"it ended with {seen['ended']} later, at its own free ({seen['complaint']})"
    end = "it noticed nothing" if seen["ended"] == "returned" else died
    harmed = before != after or seen["ended"] != "returned"
    return ("refuted" if harmed else "confirmed"), f"{said}; {end}"


def _look_at_new(shop: Workshop) -> dict[str, str]:
    host, replaced = shop.program("host.cpp", "host"), shop.program("host.cpp", "replaced", "-DREPLACED")
    shared = shop.library("plugin.cpp", "shared")
    seen = {f"shared_{name}": value for name, value in shop.run(host, shared).seen.items()}
    seen |= {f"replaced_{name}": value for name, value in shop.run(replaced, shared).seen.items()}
    options = ("-static-libstdc++", "-static-libgcc", "-Wl,-Bsymbolic", "-Wl,--exclude-libs,ALL")
    code, said = shop.try_to_compile("plugin.cpp", shop.folder / "libstatic.so", "-shared", *options)
    if code != 0:
        return {**seen, "static": f"a static C++ runtime can't be linked here: {said.splitlines()[-1:]}"}
    static = shop.folder / "libstatic.so"
    seen |= {f"static_{name}": value for name, value in shop.run(host, static).seen.items()}
    return seen | {f"static_replaced_{name}": value for name, value in shop.run(replaced, static).seen.items()}


def _judge_new(seen: Seen) -> Judged:
    shared = "one" if seen.get("shared_same") == "true" else "two"
    counted = "counts" if seen.get("replaced_plugin_used_the_hosts") == "true" else "doesn't count"
    base = f"with a shared runtime there is {shared}, and a host's own {counted} what the plugin makes"
    static = seen.get("static_same")
    if static is None:
        return ("confirmed" if shared == "one" else "refuted"), f"{base}; {seen.get('static', 'no static runtime')}"
    if static == "true":
        return "confirmed", f"{base}; with a static runtime there is one as well"
    mine = "doesn't count" if seen.get("static_replaced_plugin_used_the_hosts") == "false" else "still counts"
    return "refuted", f"{base}; with a static runtime there are two, and the host's own {mine}"


ALLOCATORS = Probe(
    "allocators",
    "A plugin with a global allocator of its own hands out a Box, and the host drops it: who takes it back?",
    "both sides are Rust, so either may drop a Box",
    "whoever allocates frees: create goes with destroy",
    _look_at_allocators,
    _judge_allocators,
)
STATICS = Probe(
    "statics",
    "One source with a static and a thread-local is compiled into host and plugin: how many are there?",
    "a static is one for the process",
    "state is behind the instance's pointer, never in a shared static",
    _look_at_statics,
    _judge_statics,
)
HEAP = Probe(
    "heap",
    "A plugin overruns its memory, catches everything, and returns success: is the fault contained?",
    "a plugin that catches everything can't hurt its host",
    "containment is of unwinding, not of damage: what isn't trusted runs in another process",
    _look_at_heap,
    _judge_heap,
)
NEW = Probe(
    "new",
    "Which operator new does a C++ plugin use, with a shared and with a statically linked runtime?",
    "there is one operator new in a process",
    "whoever allocates frees: create goes with destroy",
    _look_at_new,
    _judge_new,
)

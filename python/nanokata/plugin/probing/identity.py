"""Probes of what a name stands for on either side: types, layouts, symbols, strings."""

from __future__ import annotations

from .probe import Judged, Outcome, Probe, Seen
from .workshop import Workshop


def _unless(refuted: bool) -> Outcome:
    return "refuted" if refuted else "confirmed"


def _look_at_identity(shop: Workshop) -> dict[str, str]:
    def shared(name: str, *options: str) -> str:
        made = shop.folder / f"lib{name}.rlib"
        # One crate name for all: what differs is how it was built.
        shop.compile("shared.rs", made, "--crate-type=rlib", "--crate-name=shared", *options)
        return f"shared={made}"

    alike = shared("shared")
    host = shop.program("host.rs", "host", "--extern", alike)
    seen: dict[str, str] = {}
    for name, options in {
        "alike": None,
        "other_opt_level": ("-Copt-level=0",),
        "other_metadata": ("-Cmetadata=other",),
    }.items():
        crate = alike if options is None else shared(f"shared_{name}", *options)
        ran = shop.run(host, shop.library("plugin.rs", f"plugin_{name}", "--extern", crate))
        seen |= {f"{name}_{what}": ran.seen.get(what, ran.ended) for what in ("equal", "downcast")}
    return seen


def _judge_identity(seen: Seen) -> Judged:
    some = [name for name in ("alike", "other_opt_level", "other_metadata") if seen[f"{name}_downcast"] == "some"]
    none = [name for name in ("alike", "other_opt_level", "other_metadata") if name not in some]
    words = f"downcast works: {', '.join(some) or 'never'}; it gives none: {', '.join(none) or 'never'}"
    return _unless(bool(none)), words.replace("_", " ")


def _look_at_layout(shop: Workshop) -> dict[str, str]:
    plugin = shop.library("plugin.rs", "plugin", "--cfg", "later")
    return dict(shop.run(shop.program("host.rs", "host"), plugin).seen)


def _judge_layout(seen: Seen) -> Judged:
    right = {name: seen[f"{name}_small"] == "1" and seen[f"{name}_big"] == "2" for name in ("by_rust", "by_c")}
    read = f"the host read small = {seen['by_rust_small']} where the plugin wrote 1"
    kept = "repr(C) kept its place" if right["by_c"] else "not even repr(C) kept its place"
    if right["by_rust"]:
        return "confirmed", f"the fields stayed where they were, this time, which nothing promises; {kept}"
    where = f"host: {seen['host_by_rust']}; plugin: {seen['plugin_by_rust']}"
    return "refuted", f"{read} ({where}); {kept}"


_SCOPES = {
    "local": ("local", (), ()),
    "global": ("global", (), ()),
    "global_hidden": ("global", ("-DHIDDEN",), ("-DHIDDEN",)),
    "global_symbolic": ("global", ("-Wl,-Bsymbolic",), ("-Wl,-Bsymbolic",)),
}


def _look_at_symbols(shop: Workshop) -> dict[str, str]:
    host = shop.program("host.c", "host")
    seen: dict[str, str] = {}
    for name, (scope, first, second) in _SCOPES.items():
        one = shop.library("library.c", f"{name}_one", "-DWHO=1", *first)
        two = shop.library("library.c", f"{name}_two", "-DWHO=2", *second)
        ran = shop.run(host, scope, one, two).seen
        seen[name] = f"the first calls {ran.get('library_1')}, the second {ran.get('library_2')}"
    return seen


def _judge_symbols(seen: Seen) -> Judged:
    own = "the first calls 1, the second 2"
    strayed = [name for name in _SCOPES if seen[name] != own]
    if not strayed:
        return "confirmed", "each library called its own, whatever the scope"
    kept = ", ".join(name.replace("_", " ") for name in _SCOPES if name not in strayed)
    words = "; ".join(f"{name.replace('_', ' ')}: {seen[name]}" for name in strayed)
    return "refuted", f"{words}; each its own: {kept or 'never'}"


_TYPES = {
    "local": ("local", (), ()),
    "global": ("global", (), ()),
    "local_symbolic": ("local", ("-Wl,-Bsymbolic",), ()),
    "local_unnamed_namespace": ("local", ("-DINTERNAL",), ("-DINTERNAL",)),
}


def _look_at_types(shop: Workshop) -> dict[str, str]:
    seen: dict[str, str] = {}
    for name, (scope, of_plugin, of_host) in _TYPES.items():
        host = shop.program("host.cpp", f"host_{name}", "-fvisibility=hidden", *of_host)
        ran = shop.run(host, scope, shop.library("plugin.cpp", name, "-fvisibility=hidden", *of_plugin)).seen
        seen |= {f"{name}_{what}": value for what, value in ran.items()}
    return seen


def _judge_types(seen: Seen) -> Judged:
    of = {name: seen[f"{name}_cast"] for name in ("local", "global", "local_symbolic")}
    distinct = seen["local_address_equal"] == "false"
    objects = "two type_info objects" if distinct else "one type_info object"
    by_address = "an address-only comparison fails" if distinct else "an address-only comparison would do"
    merged = seen.get("local_merged_typeinfo_names", "not defined")
    unnamed = seen["local_unnamed_namespace_cast"]
    words = (
        f"{objects}, cast {', '.join(f'{name} {cast}' for name, cast in of.items())} "
        f"(__GXX_MERGED_TYPEINFO_NAMES = {merged}: names are compared); {by_address}; "
        f"a class in an unnamed namespace casts to {unnamed}"
    ).replace("_symbolic", " symbolic")
    return _unless("null" not in of.values()), words


def _look_at_strings(shop: Workshop) -> dict[str, str]:
    old, new = "-D_GLIBCXX_USE_CXX11_ABI=0", "-D_GLIBCXX_USE_CXX11_ABI=1"
    library = shop.library("library.cpp", "library", old)
    code, said = shop.try_to_compile("main.cpp", shop.folder / "main", new, str(library))
    telling = [line for line in said.splitlines() if "undefined reference" in line]
    # A newer linker's words are few; the first of them has the name.
    seen = {"linked": "yes" if code == 0 else "no", "linker": telling[0].partition("main.cpp:")[2] if telling else ""}
    plugin = shop.library("plugin.cpp", "plugin", new, "-Wl,-z,lazy")
    host = shop.program("host.cpp", "host")
    for binding in ("now", "lazy"):
        ran = shop.run(host, library, plugin, binding)
        seen |= {f"{binding}_{name}": value for name, value in ran.seen.items()}
        seen[f"{binding}_ended"] = f"{ran.ended}: {ran.complaint}" if ran.died else ran.ended
    return seen


def _judge_strings(seen: Seen) -> Judged:
    link = "the linker refuses" if seen["linked"] == "no" else "it links"
    now = "dlopen refuses when it binds at once" if seen.get("now_opened") == "no" else "dlopen binds it at once"
    lazily = seen.get("lazy_opened") == "yes" and seen["lazy_ended"] != "returned"
    lazy = "bound lazily it opens and ends the process at the first call" if lazily else "bound lazily it is no worse"
    silent = seen["linked"] == "yes" and seen.get("now_opened") == "yes"
    return _unless(not silent), f"{link}; {now}; {lazy}"


IDENTITY = Probe(
    "identity",
    "A Box<dyn Any> with a shared type crosses: does the host's downcast know it?",
    "the same source is the same type",
    "no type of any language's library crosses: integers, pointers, lengths",
    _look_at_identity,
    _judge_identity,
)
LAYOUT = Probe(
    "layout",
    "A field is appended to a struct in the plugin's build: does the host still find the old ones?",
    "appending a field at the end breaks nobody",
    "repr(C), offsets asserted on both sides, struct_size first",
    _look_at_layout,
    _judge_layout,
)
SYMBOLS = Probe(
    "symbols",
    "Two libraries define a helper of one name: whose is called?",
    "a library calls its own functions",
    "one exported symbol, everything else hidden, opened locally",
    _look_at_symbols,
    _judge_symbols,
)
TYPES = Probe(
    "types",
    "A C++ class is defined on both sides: do dynamic_cast and typeid see one type?",
    "under RTLD_LOCAL dynamic_cast across libraries gives null",
    "no RTTI in the contract: whether it works is the standard library's choice",
    _look_at_types,
    _judge_types,
)
STRINGS = Probe(
    "strings",
    "Two sides disagree about std::string's layout (_GLIBCXX_USE_CXX11_ABI): who notices, and when?",
    "such a disagreement is silent",
    "no type of any language's library crosses: integers, pointers, lengths",
    _look_at_strings,
    _judge_strings,
)

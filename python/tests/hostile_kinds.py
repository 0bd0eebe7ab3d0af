"""Plugins that don't keep their word, by what is wrong with each, and what a check has to say of it."""

from __future__ import annotations

import itertools
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nanokata as nk

HERE = Path(__file__).parent / "hostile"


@dataclass(frozen=True)
class Kind:
    """A source, what to define, the check that fails first, and words of its detail.

    `ends` says whether the process ends in that check, or in which later one.
    """

    source: str
    define: str
    check: str
    said: str
    ends: bool | str = False

    @property
    def name(self) -> str:
        return f"{Path(self.source).stem}-{self.define.lower().replace('=', '-')}".rstrip("-")

    @property
    def ended_in(self) -> str | None:
        return self.check if self.ends is True else self.ends or None

    @property
    def options(self) -> list[str]:
        if self.source.endswith(".rs"):
            return ["--cfg", self.define] if self.define else []
        return [f"-D{self.define}"] if self.define else []


def _of(source: str, *kinds: tuple[object, ...]) -> list[Kind]:
    return [Kind(source, *kind) for kind in kinds]


BENIGN = [Kind("structs.c", "HONEST", "", ""), Kind("structs.c", "NULL_BATCH", "", "")]

KINDS = [
    *_of(
        "symbols.c",
        ("NO_SYMBOL", "exports", "symbol = another_plugin"),
        ("NOTHING", "exports", "symbol = no symbol"),
        ("MORE_SYMBOLS", "exports", "helper, table besides nanokata_plugin"),
        ("UNDEFINED_SYMBOL", "dlopen", "nobody_has_this"),
    ),
    Kind("data_symbol.c", "", "exports", "nanokata_plugin, which is no function"),
    *_of(
        "structs.c",
        ("SIZE=0", "struct_size", "struct_size = 0;"),
        ("SIZE=8", "struct_size", "struct_size = 8;"),
        ("SIZE=32", "struct_size", "struct_size = 32;"),
        ("SIZE=39", "struct_size", "struct_size = 39;"),
        ("SIZE=41", "struct_size", "struct_size = 41;"),
        ("SIZE=47", "struct_size", "struct_size = 47;"),
        ("SIZE=4104", "struct_size", "struct_size = 4104;"),
        ("SIZE=0xFFFFFFFF", "struct_size", "struct_size = 4294967295;"),
        ("VERSION=0", "abi_version", "abi_version = 0;"),
        ("VERSION=2", "abi_version", "abi_version = 2;"),
        ("NULL_STRUCT", "entry", "nanokata_plugin() = null"),
        ("MISALIGNED_STRUCT", "entry", "a multiple of 8"),
        ("WILD_STRUCT", "entry", "SIGSEGV", True),
        ("NULL_CLAIMED_KEYS", "functions", "claimed_keys = null"),
        ("NULL_CREATE", "functions", "create = null"),
        ("NULL_DESTROY", "functions", "destroy = null"),
        ("NULL_PROCESS", "functions", "process = null"),
    ),
    *_of(
        "claims.c",
        ("WRITES_FEWER", "claimed_keys", "place 3 left unwritten"),
        ("OVERRUNS", "claimed_keys", "a claim written at place 3"),
        ("OVERRUNS_FAR", "claimed_keys", "SIGSEGV", True),
        ("CLAIMS_65536", "claimed_keys", "65536 keys"),
        ("CHANGES_COUNT", "claimed_keys", "3 keys, then 2"),
        ("CHANGES_KEYS", "claimed_keys", "key 202 at place 0, then 203"),
        ("DUPLICATE_KEY", "claimed_keys", "key 100 at places 0 and 1"),
        ("KEY_65535", "claimed_keys", "key 65535 at place 0"),
        ("UNKNOWN_FLAGS", "claimed_keys", "flags 0x0006 at place 0"),
        ("NO_KEYS", "claimed_keys", "0 keys"),
        ("IGNORES_CAPACITY", "claimed_keys", "SIGSEGV", True),
        ("KEYS_SEGFAULT", "claimed_keys", "SIGSEGV", True),
    ),
    *_of(
        "working.c",
        ("RETURNS_ERROR", "process", "error -7 for a packet of key 100"),
        ("UNKNOWN_CLAIM", "process", "claim 77 for a packet of key 100"),
        ("WRONG_CLAIM", "process", "claim 1 for a packet of key 100; wanted 0"),
        ("CLAIM_UNWRITTEN", "process", "claim 65535"),
        ("VALUE_UNWRITTEN", "determinism", "value isn't written"),
        ("NOT_MINE_PLAIN", "process", "status 1 (NANOKATA_NOT_MINE) for a packet of key 100"),
        ("UNDEFINED_STATUS", "process", "status 9 for a packet of key 100"),
        ("UNDEFINED_FOR_OTHERS", "unclaimed", "status 5"),
        ("CRASHES_ON_OTHERS", "unclaimed", "SIGSEGV", True),
        ("RESERVED_WRITTEN", "process", "result.reserved = 3"),
        ("NONDETERMINISTIC", "determinism", "for the same packet"),
        ("WRITES_PACKET", "packet", "byte 5 of the payload"),
        ("WRITES_VIEW", "packet", "a field of the packet's view"),
        ("WRITES_PAST_RESULT", "packet", "byte 3 behind the result", "bounds"),
        ("READS_PAST_PAYLOAD", "bounds", "touched what it wasn't given", True),
        ("KEEPS_PACKET", "lent", "after its packets had been taken back", True),
        ("ABORTS", "process", "SIGABRT", True),
        ("SEGFAULTS", "process", "SIGSEGV", True),
        ("DIVIDES", "process", "SIGFPE", True),
        ("EXITS", "process", "exit(3)", True),
        ("EXITS_0", "process", "exit(0)", True),
        ("KILLS_ITSELF", "process", "SIGKILL", True),
        ("OVERFLOWS_STACK", "process", "SIGSEGV", True),
        ("SHARES_STATE", "instances", "for the same packet"),
        ("BATCH_ERROR", "batch", "process_batch() returned -1 for 1 packets"),
        ("BATCH_DISAGREES", "batch", "one at a time"),
        ("BATCH_NO_STATUS", "batch", "no status is written for packet 0"),
        ("BATCH_ONE_MORE", "batch", "SIGSEGV", True),
    ),
    *_of(
        "living.c",
        ("CONSTRUCTOR_CRASHES", "dlopen", "SIGABRT", True),
        ("CONSTRUCTOR_EXITS", "dlopen", "exit(0)", True),
        ("DESTRUCTOR_CRASHES", "unload", "SIGABRT", True),
        ("CREATE_NULL", "create", "create() returned null"),
        ("ONE_INSTANCE", "instances", "the second time create() returned null"),
        ("SPAWNS_THREADS", "threads", "2 of its own still run"),
        ("PRINTS", "stdout", "bytes printed to standard output, which begin 'a plugin has nothing"),
        ("CLOSES_STDIN", "descriptors", "it closed descriptor 0"),
        ("CLOSES_ALL", "create", "it closed a descriptor that isn't its own", True),
        ("WRITES_TO_ALL", "descriptors", "it wrote 'hello'"),
        ("SEGV_HANDLER", "signals", "it changed what SIGSEGV does"),
        ("EATS_MEMORY", "create", "create() returned null"),
        ("DESTROY_CRASHES", "instances", "SIGSEGV", True),
        ("DESTROY_FREES_TWICE", "instances", "SIGABRT", True),
    ),
    *_of(
        "throwing.cpp",
        ("THROWS", "process", "SIGABRT", True),
        ("THROWS_NOEXCEPT", "process", "SIGABRT", True),
        ("THROWS_CONTAINED", "process", "error -1"),
        ("THROWS_WHEN_OPENED", "dlopen", "SIGABRT", True),
    ),
    *_of("panicking.rs", ("", "process", "uncontained", True), ("contained", "process", "error -1")),
]

HANGS = _of(
    "living.c",
    ("CONSTRUCTOR_HANGS", "dlopen", "no answer within 2 s", True),
    ("DESTRUCTOR_HANGS", "unload", "no answer within 2 s", True),
) + _of(
    "working.c",
    ("LOOPS", "process", "no answer within 2 s", True),
    ("STOPS", "process", "no answer within 2 s", True),
)

OTHERS = _of("living.c", ("FORKS", "", ""))


def build_all(into: Path) -> dict[str, Path]:
    """Build them all, a few at once; kinds in Rust only where there is a compiler."""
    shutil.copytree(HERE, into, dirs_exist_ok=True)
    shutil.copy(nk.plugin.sources() / "include" / "nanokata_plugin.rs", into)

    def built(kind: Kind) -> tuple[str, Path]:
        # As a debugger would have it: what is undefined on purpose isn't to be optimised away.
        plain = [] if kind.source.endswith(".rs") else ["-O0"]
        made = nk.plugin.build(into / kind.source, into / f"{kind.name}.so", options=[*plain, *kind.options])
        return kind.name, made.library

    wanted = [
        kind
        for kind in itertools.chain(BENIGN, KINDS, HANGS, OTHERS)
        if not kind.source.endswith(".rs") or shutil.which("rustc")
    ]
    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(built, wanted))

"""The rules of what may cross, and a field that breaks one."""

from __future__ import annotations

from dataclasses import dataclass

from nanokata.results.records import Record

__all__ = ["RULES", "Broken", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Why something may not cross, and what to write instead."""

    why: str
    instead: str


_BUFFER = "a pointer to bytes and a uint32_t or uint64_t length, lent for the call"
_INTEGER = "an integer of a stated width, as uint32_t (Rust: u32)"

RULES = {
    "string": Rule("its layout is a library's own, and differs between versions and build flags", _BUFFER),
    "container": Rule("its layout is a library's own, and so is the allocator that owns its memory", _BUFFER),
    "ownership": Rule(
        "its count and its allocator are one side's own: whoever allocates has to free",
        "an opaque void pointer, with create and destroy as a pair of functions",
    ),
    "library type": Rule("its layout is a library's own, which no agreement fixes", "integers, pointers and lengths"),
    "bool": Rule(
        "a byte other than 0 and 1 in it is undefined behaviour, and another language may write one", "a uint8_t"
    ),
    "size": Rule("it is as wide as the target's addresses: 4 bytes or 8", _INTEGER),
    "width": Rule("its width is each compiler's choice", _INTEGER),
    "long double": Rule("it is 8, 10, 12 or 16 bytes, by target", "a double"),
    "wide integer": Rule("its alignment differs between compilers", "two uint64_t"),
    "character": Rule("most 32-bit values in it are undefined behaviour", "a uint32_t, checked on arrival"),
    "enum": Rule("its representation isn't stated: the compiler chooses a width", "an integer, and named constants"),
    "option": Rule(
        "only an Option of a pointer or a function has a layout that others know", "a value that means none, or a flag"
    ),
    "slice": Rule("its two words are one compiler's own convention", _BUFFER),
    "reference": Rule(
        "it promises what the other side never agreed to (not null, valid, not aliased)",
        "a raw pointer, whose contract stands in words",
    ),
    "tuple": Rule("a tuple has no layout that is agreed on", "a #[repr(C)] struct with named fields"),
    "trait object": Rule("its table of methods is one compiler's own", "a struct of extern C functions"),
    "calling convention": Rule("a Rust fn is called as this compiler version likes", 'an extern "C" fn'),
    "virtual": Rule("where the table of methods lies and what is in it is one compiler's own", "function pointers"),
    "base class": Rule("where the base's bytes lie is one compiler's own", "a field of that type, or its fields"),
    "bit-field": Rule("which bits it takes is each compiler's choice", "an integer, and masks"),
    "no repr(C)": Rule("Rust may put the fields in any order", "#[repr(C)] before the struct"),
}
"""Every rule, by name."""


@dataclass(frozen=True, slots=True)
class Broken(Record):
    """A field, parameter or result that crosses and may not.

    `owner` is the struct or function, `field` empty where the whole struct is meant; `line` counts from 1, `type` is
    what was written, `rule` one of :data:`RULES`.
    """

    owner: str
    field: str
    line: int
    type: str
    rule: str

    @property
    def why(self) -> str:
        """What is wrong with it."""
        return RULES[self.rule].why

    @property
    def instead(self) -> str:
        """What to write instead."""
        return RULES[self.rule].instead

    def __str__(self) -> str:
        subject = f"{self.owner}.{self.field}: {self.type}" if self.field else self.owner
        return f"line {self.line}: {subject} ({self.rule}): {self.why}; write {self.instead}"

"""Types as Rust spells them, read into a tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["Type", "parse"]

Kind = Literal["path", "reference", "pointer", "array", "slice", "tuple", "function", "object", "nothing"]


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its kind, a path's last name or a function's ABI, and the types in it."""

    kind: Kind
    name: str = ""
    inner: tuple[Type, ...] = ()


_TOKEN = re.compile(r"""->|::|\.\.\.|'\w+|(?:r\#)?\w+|"[^"]*"|\S""", re.VERBOSE)
_OPEN, _CLOSED = frozenset("([{<"), frozenset(")]}>")


class _Reader:
    """Reads a type from tokens; past the last one everything is empty."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next()
        self.at += 1
        return token

    def takes(self, *wanted: str) -> bool:
        if self.next() not in wanted or not self.next():
            return False
        self.at += 1
        return True

    def skip_past(self, closing: str) -> None:
        depth = 0
        while token := self.take():
            if depth == 0 and token == closing:
                return
            depth += (token in _OPEN) - (token in _CLOSED)

    def type(self) -> Type:
        """Read one type."""
        if self.takes("&"):
            if self.next().startswith("'"):
                self.take()
            self.takes("mut")
            return Type("reference", inner=(self.type(),))
        if self.takes("*"):
            self.takes("const", "mut")
            return Type("pointer", inner=(self.type(),))
        if self.takes("("):
            inner = self.until(")")
            parenthesised = len(inner) == 1 and self.tokens[self.at - 2] != ","
            return inner[0] if parenthesised else Type("tuple" if inner else "nothing", inner=inner)
        if self.takes("["):
            inner = (self.type(),)
            kind: Kind = "array" if self.next() == ";" else "slice"
            self.skip_past("]")
            return Type(kind, inner=inner)
        if self.takes("dyn", "impl"):
            bounds = [self.type()]
            while self.takes("+"):
                bounds.append(Type("nothing") if self.take().startswith("'") else self.path_again())
            return Type("object", inner=tuple(bounds))
        return self.function() if self.next() in {"for", "unsafe", "extern", "fn"} else self.path()

    def path_again(self) -> Type:
        self.at -= 1
        return self.path()

    def function(self) -> Type:
        if self.takes("for"):
            self.takes("<")
            self.skip_past(">")
        self.takes("unsafe")
        abi = "Rust"
        if self.takes("extern"):
            abi = self.take().strip('"') if self.next().startswith('"') else "C"
        self.takes("fn")
        self.takes("(")
        given = self.until(")")
        result = (self.type(),) if self.takes("->") else ()
        return Type("function", abi, (*given, *result))

    def path(self) -> Type:
        if self.takes("<"):
            self.skip_past(">")
        name, inner = "", tuple[Type, ...]()
        while True:
            self.takes("::")
            if self.takes("<"):
                inner = self.until(">")
            elif self.takes("("):
                inner = self.until(")")
                inner += (self.type(),) if self.takes("->") else ()
            else:
                name = self.take().removeprefix("r#")
            if self.next() not in {"::", "<", "("}:
                return Type("path", name, inner)

    def until(self, closing: str) -> tuple[Type, ...]:
        """Read types up to a bracket; names before a colon or an equals sign, lifetimes and constants are left out."""
        types = []
        while self.next() and not self.takes(closing):
            if self.tokens[self.at + 1 : self.at + 2] in ([":"], ["="]):
                self.at += 2
            if self.takes("{"):
                self.skip_past("}")
            elif self.next().startswith("'") or self.next() == "...":
                self.take()
            else:
                types.append(self.type())
            self.takes(",")
        return tuple(types)


def parse(text: str) -> Type:
    """Read a type from code whose comments and literals are blank."""
    return _Reader(text).type()

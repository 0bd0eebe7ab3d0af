"""The declarations inside a struct of C or C++, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .splitting import close

__all__ = ["statements"]

_ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")


def statements(code: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Give offset and text of each declaration of ``code[start:end]``: up to its semicolon, or to its body's end.

    The bodies of structs and enums defined inside are left out: they stand for themselves.
    """
    begun, at = start, start
    while at < end:
        if (access := _ACCESS.match(code, begun, end)) is not None and at < access.end():
            begun = at = access.end()
        elif code[at] == ";":
            yield begun, code[begun:at]
            at += 1
            begun = at
        elif code[at] == "{":
            is_body = "(" in code[begun:at] and re.match(r"\s*(?:struct|class|union|enum)\b", code[begun:at]) is None
            at = min(close(code, at), end) + 1
            # A constructor's list of members comes before its body, in braces of its own.
            if is_body and re.compile(r"\s*[,{]").match(code, at, end) is None:
                yield begun, code[begun : at - 1].partition("{")[0]
                begun = at
        elif code[at] in "([":
            at = min(close(code, at), end) + 1
        else:
            at += 1

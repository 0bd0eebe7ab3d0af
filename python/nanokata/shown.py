"""What every result is shown as: rich tables in terminals, plain text, HTML in notebooks."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


class Shown:
    """Something with a table that shows it."""

    __slots__ = ()

    @abstractmethod
    def __rich__(self) -> RenderableType:
        """Return the table that shows it."""

    def summary(self, *, width: int = 80) -> str:
        """Return it as plain text, `width` columns wide."""
        from nanokata.render import plain

        return plain(self.__rich__(), width=width)

    def _repr_html_(self) -> str:
        from nanokata.render import html

        return html(self.__rich__())

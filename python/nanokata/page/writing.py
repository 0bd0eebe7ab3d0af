"""Writing a page: pictures drawn and saved, the page composed, written as HTML and, if wanted, as Markdown."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .compose import Pictures, compose, title
from .html import html
from .markdown import markdown as as_markdown
from .pictures import pictures_of

if TYPE_CHECKING:
    from nanokata.phases import KataRun, PhaseResult

    from .blocks import Picture


def write(
    run: KataRun, directory: Path, *, markdown: bool = False, figures: bool = True, pictures: Pictures | None = None
) -> Path:
    """Write a run's page into `directory`, and its figures beside it; return the path of ``index.html``.

    `pictures` are those that are drawn and saved already, by phase; without them they are drawn here.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if pictures is None:
        pictures = {phase.phase.number: draw(phase, directory) for phase in run.phases} if figures else {}
    blocks = compose(run, pictures)
    page = directory / "index.html"
    _replace(page, html(title(run), blocks).encode())
    if markdown:
        _replace(directory / "index.md", as_markdown(blocks).encode())
    return page


def draw(phase: PhaseResult, directory: Path) -> tuple[Picture, ...]:
    """Draw a phase's figures and save them in `directory`."""
    drawn = tuple(pictures_of(phase))
    for picture in drawn:
        directory.mkdir(parents=True, exist_ok=True)
        _replace(directory / picture.name, picture.png)
    return drawn


def _replace(target: Path, content: bytes) -> None:
    """Write a file whole or not at all: a page of an earlier run isn't lost to a full disk or a second Ctrl-C."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

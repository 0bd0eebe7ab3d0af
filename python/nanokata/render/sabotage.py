"""A sabotaged run as text: which broken arms the checksums caught, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nanokata.results.records import Check, Report


def _arm_and_setting(check: Check) -> tuple[str, str]:
    arm, _, setting = check.name.partition(":")[2].partition(" (")
    return arm, setting.removesuffix(")")


def sabotage_lines(report: Report) -> Iterator[RenderableType]:
    """Yield each arm with every setting at which it was raced broken: what it computed and what was expected."""
    yield Text(f"Sabotaged: {report.sabotage}. Every arm that can have the fault was raced with it.", style="bold")
    by_arm: dict[str, list[Check]] = {}
    for check in report.checks:
        by_arm.setdefault(_arm_and_setting(check)[0], []).append(check)
    for arm, checks in by_arm.items():
        counts = Counter(_word(check) for check in checks)
        yield Text.assemble((arm, "bold"), ": ", ", ".join(f"{word} {count}×" for word, count in counts.items()))
        for check in checks:
            setting = _arm_and_setting(check)[1]
            yield Text(f"  {f'{setting}: ' if setting else ''}{check.detail}", style="dim" if not check.voids else "")


def _word(check: Check) -> str:
    if check.outcome == "not_applicable":
        return "not applicable"
    return "caught" if check.name.startswith("checksum:") else "NOT NOTICED"


def sabotage_conclusion(report: Report) -> Text:
    """Return what it comes to."""
    counts = Counter(_word(check) for check in report.checks)
    raced = counts["caught"] + counts["NOT NOTICED"]
    if counts["NOT NOTICED"]:
        missed = counts["NOT NOTICED"]
        return Text(f"{missed} of {raced} broken arms were NOT noticed: the instrument has a hole.", style="bold red")
    if not raced:
        return Text("Nothing was raced: this input never shows the fault.", style="bold yellow")
    plural = "s" if raced != 1 else ""
    return Text(f"All {raced} broken arm{plural} caught by the checksum: exit code 1, as it must be.", style="bold")

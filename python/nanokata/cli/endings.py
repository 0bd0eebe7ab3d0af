"""How a command ends: with a code that scripts rely on, and a message that says what to type instead."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import click

from nanokata.errors import NanokataError, NotMeasurable, UnknownExperiment

UNUSABLE_ARGUMENTS, NO_VERDICT = 2, 3
CHECK_FAILED = 1
INTERRUPTED = 128 + 2
"""What shells report for SIGINT."""
BROKEN_PIPE = 128 + 13


def complain(message: str) -> None:
    """Write an error to stderr."""
    click.secho("error: ", fg="red", bold=True, nl=False, err=True)
    click.echo(message, err=True)


def _advice(error: NanokataError) -> str:
    if isinstance(error, UnknownExperiment):
        instead = f"nanokata run {error.nearest[0]}" if error.nearest else "nanokata list"
        return f"type `{instead}`"
    if isinstance(error, NotMeasurable):
        return "`nanokata doctor` shows what this machine can measure, and what disturbs it"
    context = click.get_current_context(silent=True)
    return f"`{context.command_path if context else 'nanokata'} --help` shows what it takes"


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show warnings as plain lines on stderr, without a source line."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        click.secho("warning: ", fg="yellow", nl=False, err=True)
        click.echo(str(message), err=True)

    with warnings.catch_warnings():
        # Shown as lines whatever filters the process has, also where warnings are made errors.
        warnings.filterwarnings("always", category=UserWarning)
        warnings.showwarning = show
        yield


def _code_of(error: NanokataError) -> int:
    from nanokata.errors import ChecksumMismatch, WorkerPanic

    if isinstance(error, NotMeasurable):
        return NO_VERDICT
    return CHECK_FAILED if isinstance(error, (ChecksumMismatch, WorkerPanic)) else UNUSABLE_ARGUMENTS


def end_with(error: NanokataError) -> int:
    """Say what went wrong and what to type instead; return the code that it stands for."""
    complain(f"{error}\n{_advice(error)}")
    return _code_of(error)


def worst(codes: Iterable[int]) -> int:
    """Return the worst of several measurements' codes: a failed check before a missing verdict."""
    return max(codes, key=(0, NO_VERDICT, CHECK_FAILED).index, default=0)


def run_command(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run `command` and return the code to exit with."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a figure isn't worth a crash over a multiplication sign
    try:
        with warnings_as_lines():
            code = command.main(arguments, standalone_mode=False)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except NanokataError as error:
        return end_with(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("\ninterrupted; nothing is left running", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`nanokata list | head`); nothing more can be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return code if isinstance(code, int) else 0

"""How a command ends: with a code that scripts rely on, and a message that says what to type instead."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from nanokata.errors import InvalidArgument, NanokataError, NotMeasurable, UnknownExperiment

UNUSABLE_ARGUMENTS, NO_VERDICT = 2, 3
CHECK_FAILED = 1
INTERRUPTED = 128 + 2
"""What shells report for SIGINT."""
TERMINATED = 128 + 15
"""What shells report for SIGTERM."""
BROKEN_PIPE = 128 + 13


def complain(message: str) -> None:
    """Write an error to stderr."""
    with suppress(OSError):  # Where stderr takes nothing either, the code has to say it.
        click.secho("error: ", fg="red", bold=True, nl=False, err=True)
        click.echo(message, err=True)


def _advice(error: NanokataError) -> str | None:
    if isinstance(error, UnknownExperiment):
        # Without a near name, the message itself says what lists them.
        return f"type `nanokata run {error.nearest[0]}`" if error.nearest else None
    if isinstance(error, NotMeasurable):
        return "`nanokata doctor` shows what this machine can measure, and what disturbs it"
    context = click.get_current_context(silent=True)
    if context is not None and (experiment := _at_fault(error, context)) is not None:
        return f"`nanokata list{experiment}` shows what it takes"
    return f"`{context.command_path if context else 'nanokata'} --help` shows what it takes"


def _at_fault(error: NanokataError, context: click.Context) -> str | None:
    """Return what of the catalogue an error is about, as the end of a command; `None` where it is about an option.

    That is the experiment or area that was asked for; of a kata, the whole catalogue.
    """
    from nanokata.phases import KATAS

    experiment = context.params.get("experiment")
    if not isinstance(error, InvalidArgument) or not isinstance(experiment, str):
        return None
    options = {option for parameter in context.command.params for option in (parameter.name, *parameter.opts)}
    # `--set` gives an experiment's parameters, whatever is wrong with it.
    if error.name in options - {"--set"}:
        return None
    return "" if experiment in KATAS else f" {experiment}"


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
    advice = _advice(error)
    complain(f"{error}\n{advice}" if advice else str(error))
    return _code_of(error)


class Command(click.Command):
    """A command whose errors end it while click still knows what was asked for, so that advice can name it."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; return what it returns, or the code that an error of nanokata's stands for."""
        try:
            return super().invoke(ctx)
        except NanokataError as error:
            return end_with(error)


def worst(codes: Iterable[int]) -> int:
    """Return the worst of several measurements' codes: a failed check before a missing verdict."""
    return max(codes, key=(0, NO_VERDICT, CHECK_FAILED).index, default=0)


def _write_no_more() -> None:
    """Have what is still buffered go nowhere, so that nothing fails at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)


def _reader_gone() -> int:
    """End quietly: the reader went away (`nanokata list | head`), and nothing more can be written."""
    _write_no_more()
    return BROKEN_PIPE


def _never_fail_on_a_sign() -> None:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a figure isn't worth a crash over a multiplication sign


class Terminated(KeyboardInterrupt):
    """SIGTERM: a run ends as it does on Ctrl-C, with what is finished kept."""


@contextmanager
def terminating_as_interrupted() -> Iterator[None]:
    """Have SIGTERM end what runs as Ctrl-C does, instead of at once; where it does something else, leave it."""

    def end(*_: object) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run_command(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run `command` and return the code to exit with."""
    _never_fail_on_a_sign()
    if sys.stdout is None:
        complain("standard output is closed: nothing could be shown; redirect it to /dev/null if nothing is wanted")
        return UNUSABLE_ARGUMENTS
    try:
        with warnings_as_lines(), terminating_as_interrupted():
            code = command.main(arguments, standalone_mode=False)
        sys.stdout.flush()
    except SystemExit:
        # The way in which click ends where the reader went away.
        return _reader_gone()
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except NanokataError as error:
        return end_with(error)
    except (KeyboardInterrupt, click.Abort) as cut:
        # click makes an Abort of what it meets.
        if isinstance(cut.__cause__ or cut, Terminated):
            click.echo("\nterminated; nothing is left running", err=True)
            return TERMINATED
        click.echo("\ninterrupted; nothing is left running", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except OSError as problem:
        complain(f"the output can't be written: {problem}" if problem.filename is None else str(problem))
        _write_no_more()
        return UNUSABLE_ARGUMENTS
    return code if isinstance(code, int) else 0

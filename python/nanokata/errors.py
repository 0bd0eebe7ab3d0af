"""Every way in which nanokata refuses: what was wrong, with which value, and what to do.

All are :class:`NanokataError`, and also the built-in error that a caller would expect (``ValueError``,
``OSError``, …). The values that an error speaks of are its attributes too.
"""

from __future__ import annotations

__all__ = [
    "BinaryError",
    "CannotBuild",
    "CaptureError",
    "ChecksumMismatch",
    "InvalidArgument",
    "NanokataError",
    "NotMeasurable",
    "OutOfMemory",
    "PinningError",
    "PluginRejected",
    "ResidualBoundExceeded",
    "SystemCallError",
    "UncheckedPlugin",
    "UnknownExercise",
    "UnknownExperiment",
    "UnknownProbe",
    "WorkerPanic",
    "WrongArray",
    "WrongType",
]


class NanokataError(Exception):
    """Anything that nanokata refuses or stops at; catch this to catch all."""


class InvalidArgument(NanokataError, ValueError):
    """An argument outside its bounds or of the wrong kind.

    Attributes
    ----------
    name, value, wanted : str
        The argument as the caller wrote it, the value given (printed), and what would have been accepted.
    """

    def __init__(self, message: str, *, name: str = "", value: str = "", wanted: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.value = value
        self.wanted = wanted


class WrongType(InvalidArgument, TypeError):
    """An argument of another type than the one that is wanted; attributes as of :class:`InvalidArgument`."""


class WrongArray(NanokataError, TypeError, ValueError):
    """An array of the wrong dtype, shape or layout; the message says which was wanted and which was given.

    Attributes
    ----------
    wanted, given : str
        Dtype, dimensions and contiguity, as wanted and as given.
    """

    def __init__(self, message: str, *, wanted: str = "", given: str = "") -> None:
        super().__init__(message)
        self.wanted = wanted
        self.given = given


class PinningError(NanokataError, OSError):
    """A CPU that is absent or not allowed to this process, or a pin that the system did not honour."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class CannotBuild(NanokataError, OSError):
    """A source file that didn't become a library.

    Attributes
    ----------
    source, reason : str
        The file, and why not: no compiler, or what the compiler said.
    """

    def __init__(self, message: str, *, source: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.source = source
        self.reason = reason


class CaptureError(NanokataError, ValueError):
    """A packet capture that is truncated, empty, or no capture at all."""


class BinaryError(NanokataError, ValueError):
    """A binary that can't be examined (not ELF, damaged, stripped, other code), or a function that it doesn't have."""


class PluginRejected(NanokataError, ValueError):
    """A library that is no plugin, or none that this host can use.

    Attributes
    ----------
    path, field, value, wanted : str
        The library, what was looked at, what was found (printed), and what would have been accepted.
    """

    def __init__(self, message: str, *, path: str = "", field: str = "", value: str = "", wanted: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.field = field
        self.value = value
        self.wanted = wanted


class ChecksumMismatch(NanokataError):
    """Two arms that claim the same work computed different results: no figure is reported.

    Attributes
    ----------
    arm, expected_by : str
        The arm that differs, and what it was compared with (the reference, or another arm).
    got, expected : int
        The two checksums.
    """

    def __init__(self, message: str, *, arm: str = "", got: int = 0, expected: int = 0, expected_by: str = "") -> None:
        super().__init__(message)
        self.arm = arm
        self.got = got
        self.expected = expected
        self.expected_by = expected_by


class NotMeasurable(NanokataError):
    """This machine or this build can't measure what was asked for.

    Attributes
    ----------
    what, reason : str
        The thing asked for, and why not, in one line.
    """

    def __init__(self, message: str, *, what: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.what = what
        self.reason = reason


class UncheckedPlugin(UserWarning):
    """A library was loaded into this process that hasn't passed ``nanokata plugin check``."""


class _UnknownName(NanokataError, LookupError):
    def __init__(self, message: str, *, name: str = "", nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.nearest = nearest


class UnknownExperiment(_UnknownName):
    """No experiment, area or arm has that name.

    Attributes
    ----------
    name : str
        The name that was asked for.
    nearest : tuple of str
        The nearest names that exist, best first.
    """


class UnknownExercise(_UnknownName):
    """No exercise has that name.

    Attributes
    ----------
    name : str
        The name that was asked for.
    nearest : tuple of str
        The nearest names that exist, best first.
    """


class UnknownProbe(_UnknownName):
    """No probe of the plugin boundary has that name.

    Attributes
    ----------
    name : str
        The name that was asked for.
    nearest : tuple of str
        The nearest names that exist, best first.
    """


class OutOfMemory(NanokataError, MemoryError):
    """More memory than the machine has available.

    Attributes
    ----------
    needed_bytes, available_bytes : int
        What was needed, and what there was.
    """

    def __init__(self, message: str, *, needed_bytes: int = 0, available_bytes: int = 0) -> None:
        super().__init__(message)
        self.needed_bytes = needed_bytes
        self.available_bytes = available_bytes


class ResidualBoundExceeded(NanokataError, ValueError):
    """A key has more residual candidates than ``residual_bound`` allows.

    Attributes
    ----------
    key, length, bound : int
        The key, how many candidates it has, and the bound.
    """

    def __init__(self, message: str, *, key: int = 0, length: int = 0, bound: int = 0) -> None:
        super().__init__(message)
        self.key = key
        self.length = length
        self.bound = bound


class SystemCallError(NanokataError, OSError):
    """The operating system refused a call; the message says which, and the system's own reason."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class WorkerPanic(NanokataError, RuntimeError):
    """The core met a state that it holds to be impossible: a bug in nanokata, please report the message."""

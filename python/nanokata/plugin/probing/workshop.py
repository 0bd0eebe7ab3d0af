"""Where probes are built and run: a directory of their own, the system's compilers, a process for each host."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["NotApplicable", "Ran", "Workshop"]

Language = str
_COMPILERS = {
    "rust": ("RUSTC", ("rustc",), "install Rust (https://rustup.rs)"),
    "c": ("CC", ("cc", "gcc", "clang"), "install a C compiler (Debian, Ubuntu: apt install gcc)"),
    "cpp": ("CXX", ("c++", "g++", "clang++"), "install a C++ compiler (Debian, Ubuntu: apt install g++)"),
}
_LANGUAGES = {".rs": "rust", ".c": "c", ".cpp": "cpp"}
_OPTIONS = {
    "rust": ("--edition=2024", "-Copt-level=2"),
    "c": ("-std=gnu11", "-O2", "-fPIC"),
    "cpp": ("-std=c++17", "-O2", "-fPIC"),
}


class NotApplicable(Exception):
    """A probe can't be made here; the message says why, and what to install."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a host's process ended, and what it printed as ``name=value`` lines."""

    ended: str
    seen: dict[str, str] = field(default_factory=dict)
    complaint: str = ""

    @property
    def died(self) -> bool:
        """Whether something else ended it than its own return."""
        return self.ended != "returned"


class Workshop:
    """A directory with the sources of one probe, and what is built of them."""

    def __init__(self, sources: Path, folder: Path, *, timeout: float) -> None:
        self.sources = sources
        self.folder = folder
        self.timeout = timeout

    def library(self, source: str, name: str, *options: str) -> Path:
        """Build a shared library."""
        rust = source.endswith(".rs")
        made = self.folder / f"lib{name}.so"
        self.compile(source, made, *(("--crate-type=cdylib",) if rust else ("-shared",)), *options)
        return made

    def program(self, source: str, name: str, *options: str) -> Path:
        """Build a program."""
        made = self.folder / name
        # libdl is part of libc where that is new, and a library of its own where it isn't.
        self.compile(source, made, *options, *(() if source.endswith(".rs") else ("-ldl",)))
        return made

    def compile(self, source: str, output: Path, *options: str) -> None:
        """Compile `source` to `output`; raises :class:`NotApplicable` with the compiler's words where that fails."""
        ended, said = self.try_to_compile(source, output, *options)
        if ended != 0:
            raise NotApplicable(f"{source} didn't compile: {_last_words(said)}")

    def try_to_compile(self, source: str, output: Path, *options: str) -> tuple[int, str]:
        """Compile, and return the compiler's code and words."""
        language = _LANGUAGES[Path(source).suffix]
        path = self.sources / source
        options_first = (*_OPTIONS[language], str(path), "-o", str(output), *options)
        try:
            ran = subprocess.run(  # noqa: S603 (the system's compiler, the probe's own source)
                [_compiler(language), *options_first],
                capture_output=True, text=True, timeout=self.timeout, cwd=self.folder, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise NotApplicable(f"{source} didn't compile within {self.timeout:g} s") from None
        return ran.returncode, ran.stderr

    def run(self, program: Path, *arguments: str | Path, environment: dict[str, str] | None = None) -> Ran:
        """Run a host in a process group of its own; what is left of that when the time is up is killed."""
        process = subprocess.Popen(  # noqa: S603 (what was compiled just now)
            [program, *map(str, arguments)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            cwd=self.folder, start_new_session=True, env={**os.environ, **(environment or {})},
        )  # fmt: skip
        try:
            out, err = process.communicate(timeout=self.timeout)
        except BaseException as stopped:
            # Also on Ctrl-C: nobody is left behind.
            _kill_group(process)
            out, err = process.communicate()
            if not isinstance(stopped, subprocess.TimeoutExpired):
                raise
            raise NotApplicable(f"{program.name} gave no answer within {self.timeout:g} s") from None
        lines = (line.partition("=") for line in out.splitlines() if "=" in line)
        return Ran(_ending(process.returncode), {name: value for name, _, value in lines}, _last_words(err))


def _compiler(language: Language) -> str:
    variable, names, install = _COMPILERS[language]
    tried = [os.environ[variable]] if os.environ.get(variable) else list(names)
    for name in tried:
        if (found := shutil.which(name)) is not None:
            return found
    raise NotApplicable(f"no compiler answers to {', '.join(tried)}; {install}, or set {variable}")


def _kill_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def _ending(code: int) -> str:
    if code == 0:
        return "returned"
    if code > 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _last_words(text: str, most: int = 200) -> str:
    """Return the line that says what went wrong, as near as one can tell."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling: Sequence[str] = [
        line for line in lines if any(word in line for word in ("error", "undefined", "fatal", "panic", "free()"))
    ]
    return (telling or lines or [""])[-1][:most]

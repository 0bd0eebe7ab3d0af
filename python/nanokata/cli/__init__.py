"""The command line."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        # Imported here, so that Ctrl-C while libraries load ends as it does later.
        from .commands import nanokata
        from .endings import run_command

        code = run_command(nanokata)
    except KeyboardInterrupt:
        code = 128 + 2  # What shells report for SIGINT.
    sys.exit(code)

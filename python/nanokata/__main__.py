"""``python -m nanokata`` is the command line."""

from nanokata.cli import main

main()

"""The command `nanokata`: its commands by group."""

from __future__ import annotations

import click

from .advise import advise
from .doctor import doctor
from .exercise import exercise
from .listing import list_experiments
from .plugin import plugin
from .run import run
from .simulate import simulate

GROUPS = {
    "Learn": ("exercise",),
    "Measure": ("doctor", "list", "run", "simulate", "advise"),
    "Inspect": ("plugin",),
}
"""Help shows the commands under these headings; a heading without commands isn't shown."""


class GroupedHelp(click.Group):
    """A group whose help lists commands by what they are for."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings."""
        grouped = [name for names in GROUPS.values() for name in names]
        others = tuple(name for name in self.list_commands(ctx) if name not in grouped)
        for heading, names in (*GROUPS.items(), ("Other", others)):
            rows = [
                (name, command.get_short_help_str(60))
                for name in names
                if (command := self.get_command(ctx, name)) is not None
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or offer the nearest."""
        from nanokata.catalogue import nearest

        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            close = nearest(name, self.list_commands(ctx)) or tuple(self.list_commands(ctx))
            ctx.fail(f"no command is called {name!r}; type `nanokata {close[0]}`, or `nanokata --help`")
        return super().resolve_command(ctx, args)


@click.group(cls=GroupedHelp, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="nanokata")
def nanokata() -> None:
    """Learn low-level performance by prediction, then measurement.

    Exit codes: 0 no check failed, 1 one failed, 2 unusable arguments, 3 no verdict (too noisy, a control failed,
    not measurable here).
    """


nanokata.add_command(advise)
nanokata.add_command(doctor)
nanokata.add_command(exercise)
nanokata.add_command(list_experiments)
nanokata.add_command(plugin)
nanokata.add_command(run)
nanokata.add_command(simulate)

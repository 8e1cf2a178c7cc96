"""Parser of the command line, with a help that begins with examples."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Parser of ``routelab`` or of a command, with the options that all commands have.

    Options cannot be abbreviated: an abbreviation would mean something else, or nothing, as soon as
    a plugin adds an option.

    Parameters
    ----------
    add_late_options : function, optional
        Adds options that take long to determine to the parser; called once the command is known.
    examples : sequence of str
        Complete commands, which the help shows first.
    groups : mapping of str to sequence of str, optional
        Names of commands by the heading under which the help lists them.
    **settings
        Arguments of `argparse.ArgumentParser`.
    """

    def __init__(
        self,
        add_late_options: Callable[[argparse.ArgumentParser], None] | None = None,
        examples: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings, allow_abbrev=False, add_help=False)
        self._positionals.title = "arguments"
        self.add_late_options = add_late_options
        self.examples = examples
        self._groups = groups
        # In `routelab -v route ...`, the parser of "route" has the option, too. A default there
        # would replace the value that stands before the command.
        flag: dict[str, Any] = {"action": "store_true", "default": argparse.SUPPRESS}
        self.general = self.add_argument_group("general options")
        self.general.add_argument("-h", "--help", action="help", help="print this help and exit")
        self.general.add_argument("-v", "--verbose", help="print each step", **flag)
        self.general.add_argument("-q", "--quiet", help="print only warnings and errors", **flag)
        self.general.add_argument(
            "--log-json", help="print messages as JSON, one object per line", **flag
        )

    def add_subparsers(self, **settings: Any) -> Any:
        """Add the argument for the command's name; the parsers of commands are `Parser` objects."""
        settings["parser_class"] = Parser
        return super().add_subparsers(**settings)

    def add_missing_options(self) -> None:
        """Add the late options, unless they are there already."""
        if self.add_late_options is not None:
            add_late_options, self.add_late_options = self.add_late_options, None
            add_late_options(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments with all options; the parser of a command refuses unknown arguments.

        argparse would leave them to the parser of ``routelab``, whose error shows the usage of
        ``routelab`` instead of that of the command.
        """
        self.add_missing_options()
        parsed, unknown = super().parse_known_args(args, namespace)
        has_commands_below = bool(self.commands)
        if unknown and not has_commands_below:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._hint(unknown[0])}")
        return parsed, unknown

    def format_usage(self) -> str:
        """Return one line with the required options and the arguments, then ``[OPTION ...]``."""
        formatter = self._get_formatter()
        positionals = self._get_positional_actions()
        required = [action for action in self._get_optional_actions() if action.required]
        formatter.add_usage(self.usage, [*required, *positionals], groups=[])
        return formatter.format_help().rstrip("\n") + " [OPTION ...]\n"

    def format_help(self) -> str:
        """Return usage, examples, description, arguments and options, general options last."""
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        others = [group for group in self._action_groups if group is not self.general]
        for group in [*others, self.general]:
            actions = group._group_actions
            if any(isinstance(action, argparse._SubParsersAction) for action in actions):
                # the group of the commands becomes a section for each heading in `groups`
                names_by_title = self._groups or {group.title or "": [*self.commands]}
                for title, names in names_by_title.items():
                    _add_section(formatter, title, list(self._help_entries(names)))
            else:
                _add_section(formatter, group.title, actions)
        examples = ""
        if self.examples:
            heading = "example:" if len(self.examples) == 1 else "examples:"
            examples = "\n  ".join([heading, *self.examples]) + "\n"
        return "\n".join(filter(None, (self.format_usage(), examples, formatter.format_help())))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help; raise `OSError` if it cannot be written, which argparse ignores."""
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        file.write(message)
        file.flush()

    def error(self, message: str) -> NoReturn:
        """Print usage and message, with a suggestion for a misspelled command; exit with code 2."""
        from routelab.commands._shared.errors import safe_text

        if self.commands and (wrong := re.search(r"invalid choice: '([^']*)'", message)):
            message += self._hint(wrong[1])
        super().error(safe_text(message))

    def _hint(self, word: str) -> str:
        """Return a suggestion for a misspelled option or command, or ""."""
        from routelab.registry.suggest import did_you_mean

        known = self.options if word.startswith("-") else self.commands
        return did_you_mean(word.partition("=")[0], known)

    @property
    def actions(self) -> Sequence[argparse.Action]:
        """Arguments and options."""
        return self._actions

    @property
    def options(self) -> Mapping[str, argparse.Action]:
        """Options by their spelling."""
        return self._option_string_actions

    def descendants(self) -> Iterator[Parser]:
        """Iterate over this parser, its commands and their actions, with all options."""
        self.add_missing_options()
        yield self
        for child in self.commands.values():
            yield from child.descendants()

    @property
    def commands(self) -> Mapping[str, Parser]:
        """Commands or actions by name."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return action.choices
        return {}

    def _help_entries(self, names: Sequence[str]) -> Iterator[argparse.Action]:
        """Yield the lines of commands in the help, in the order of `names`.

        Commands without a help text, which only the workflow calls, have no line.
        """
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                # For each line, argparse has an action whose `dest` is the command's name.
                entries = {entry.dest: entry for entry in action._choices_actions}
                yield from (entries[name] for name in names if name in entries)


def _add_section(
    formatter: argparse.HelpFormatter, title: str | None, actions: Sequence[argparse.Action]
) -> None:
    formatter.start_section(title)
    formatter.add_arguments(actions)
    formatter.end_section()

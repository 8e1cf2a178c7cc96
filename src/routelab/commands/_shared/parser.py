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
    later : function, optional
        Adds options that take long to determine; called when the command is known.
    examples : sequence of str
        Complete commands, which the help shows first.
    groups : mapping of str to sequence of str, optional
        Names of commands by the heading under which the help lists them.
    **settings
        Arguments of `argparse.ArgumentParser`.
    """

    def __init__(
        self,
        later: Callable[[argparse.ArgumentParser], None] | None = None,
        examples: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings, allow_abbrev=False, add_help=False)
        self._positionals.title = "arguments"
        self.later = later
        self.examples = examples
        self._groups = groups
        # without a default, so that a command's parser keeps the values before the command
        unset: dict[str, Any] = {"action": "store_true", "default": argparse.SUPPRESS}
        self.general = self.add_argument_group("general options")
        self.general.add_argument("-h", "--help", action="help", help="print this help and exit")
        self.general.add_argument("-v", "--verbose", help="print each step", **unset)
        self.general.add_argument("-q", "--quiet", help="print only warnings and errors", **unset)
        self.general.add_argument(
            "--log-json", help="print messages as JSON, one object per line", **unset
        )

    def add_subparsers(self, **settings: Any) -> Any:
        """Add the place of the command's name; the commands are `Parser` objects."""
        settings["parser_class"] = Parser
        return super().add_subparsers(**settings)

    def complete(self) -> None:
        """Add the options of `later`."""
        if self.later is not None:
            later, self.later = self.later, None
            later(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments with all options; a command refuses what it does not know."""
        self.complete()
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown and not self.commands:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._hint(unknown[0])}")
        return parsed, unknown

    def format_usage(self) -> str:
        """Return a line with the arguments that must be given."""
        formatter = self._get_formatter()
        positionals = self._get_positional_actions()
        options = [action for action in self._get_optional_actions() if action.required]
        formatter.add_usage(self.usage, [*options, *positionals], [])
        return formatter.format_help().rstrip("\n") + " [OPTION ...]\n"

    def format_help(self) -> str:
        """Return usage, examples, description, arguments and options, general options last."""
        formatter = self._get_formatter()
        formatter.add_text(self.description)
        # general options last
        for group in sorted(
            self._action_groups, key=lambda action_group: action_group is self.general
        ):
            actions = group._group_actions
            if any(isinstance(action, argparse._SubParsersAction) for action in actions):
                for title, names in (self._groups or {group.title or "": [*self.commands]}).items():
                    _add_section(formatter, title, list(self._lines_of(names)))
            else:
                _add_section(formatter, group.title, actions)
        lines = "".join(f"\n  {example}" for example in self.examples)
        examples = f"example{'s' * (len(self.examples) > 1)}:{lines}\n" if lines else ""
        return "\n".join(filter(None, (self.format_usage(), examples, formatter.format_help())))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a help; unlike argparse, report that it cannot be written."""
        if file is not sys.stdout:
            super()._print_message(message, file)
            return
        file.write(message)
        file.flush()

    def error(self, message: str) -> NoReturn:
        """End with code 2."""
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
        self.complete()
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

    def _lines_of(self, names: Sequence[str]) -> Iterator[argparse.Action]:
        """Iterate over the lines of the help for some commands, in this order."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                lines = {choice.dest: choice for choice in action._choices_actions}
                yield from (lines[name] for name in names if name in lines)


def _add_section(
    formatter: argparse.HelpFormatter, title: str | None, actions: Sequence[argparse.Action]
) -> None:
    formatter.start_section(title)
    formatter.add_arguments(actions)
    formatter.end_section()

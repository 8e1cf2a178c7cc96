"""``routelab completion``: print the code with which shells complete commands."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "completion",
        help="print the code that lets bash, zsh or fish complete commands",
        examples=(
            'eval "$(routelab completion bash)"    # in ~/.bashrc',
            'eval "$(routelab completion zsh)"     # in ~/.zshrc, after compinit',
            "routelab completion fish | source     # in ~/.config/fish/config.fish",
        ),
        description="Print the code with which a shell completes commands, options, names of "
        "plugins with their parameters, studies and clusters.",
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"{', '.join(SHELLS)}")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the code."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["routelab"], shell=arguments.shell))
    return 0

"""What commands that also do batches of jobs share."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_batch(parser: argparse.ArgumentParser) -> None:
    """Add the option with which the workflow hands over many jobs at once."""
    parser.add_argument(
        "--batch",
        metavar="FILE",
        type=Path,
        help="do the jobs that FILE lists (the workflow writes it); -o names the list of outcomes",
    )


def require(arguments: argparse.Namespace, *names: str) -> None:
    """Refuse a call without arguments that only a batch can do without."""
    missing = [name.upper() for name in names if getattr(arguments, name) is None]
    if missing:
        from routelab.api.errors import InputError

        raise InputError(f"{' and '.join(missing)} missing; see --help")


def run_batch(arguments: argparse.Namespace) -> int:
    """Do the jobs of a batch."""
    from routelab.stages import batches

    if arguments.output is None:
        from routelab.api.errors import InputError

        raise InputError("--batch needs -o FILE for the list of outcomes")
    batches.run_batch(arguments.batch, arguments.output)
    return 0

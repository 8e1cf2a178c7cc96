"""What commands that do jobs, one or a batch, share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routelab.artifacts.outcome import Outcome
    from routelab.stages.limits import Breach


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


def warn(name: str, ended: Outcome | Breach) -> None:
    """Tell that a job came to no result."""
    import logging

    logging.getLogger(__name__).warning("%s: %s: %s", name, ended.status, ended.reason)


def run_batch(arguments: argparse.Namespace) -> int:
    """Do the jobs of a batch."""
    from routelab.stages import batches

    if arguments.output is None:
        from routelab.api.errors import InputError

        raise InputError("--batch needs -o FILE for the list of outcomes")
    batches.run_batch(arguments.batch, arguments.output)
    return 0

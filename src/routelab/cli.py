"""The command line: one module of `routelab.commands` a command, one exit code an outcome.

Everything here is imported on every call, so nothing heavy is: a command imports what it needs
when it runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence

from routelab import __version__, commands
from routelab.commands._errors import explain


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    code : int
        0: done; 1: the work failed; 2: the input is wrong; 130: interrupted; 141: the reader of
        the output went away.
    """
    try:
        arguments = _parser().parse_args(argv)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 2
    except KeyboardInterrupt:
        print("routelab: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the interpreter flushes once more when it ends and would complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        return explain(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="routelab", description="Experiments with routing algorithms for HPC interconnects."
    )
    parser.add_argument("--version", action="version", version=f"routelab {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{commands.__name__}.{module.name}").add_parser(subparsers)
    return parser

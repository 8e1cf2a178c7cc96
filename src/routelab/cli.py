"""The command line: one module of `routelab.commands` per command, one exit code per outcome.

Every call imports this module, so it imports nothing heavy: a command imports its modules when it
runs.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from routelab import __version__, commands
from routelab._runtime.platforms import unsupported_platform
from routelab.commands._shared.parser import Parser

Function = TypeVar("Function", bound=Callable[..., int])

EXAMPLES = (
    "routelab evaluate torus~dims=4x2x2x2 angara-sssp dor",
    "routelab simulate torus~dims=8x8 dor uniform --load 0.1,0.3,0.5",
    "routelab plugins list routing",
)

GROUPS = {
    "try networks and routings": ("topology", "route", "evaluate", "bound", "export"),
    "check routes of your own": ("prove", "infiniband", "instances"),
    "simulate": ("simulate", "workload"),
    "run studies": ("init", "study", "report", "compare"),
    "measure on clusters": ("cluster", "bench"),
    "extend": ("plugins", "completion"),
}
"""Commands by what they are for, as the help lists them."""

DEFECT = 70
"""Exit code of errors that nobody expected: ``EX_SOFTWARE`` of BSD."""

STACK_WORDS = 70_000
"""Stack that `main` claims, in words of eight bytes: 560 kB.

Python doubles the size of a block, from 16 KiB on, until the frame fits. So it takes a block of
1 MiB, and almost half of it remains for the calls below.
"""


def with_stack(function: Function) -> Function:
    """Let a function, and all that it calls, run on one block of Python's stack; a decorator.

    Python takes the stack for frames from the system in blocks of 16 KiB, and returns a block as
    soon as no frame is left on it. If a call in a loop is the first one that no longer fits on a
    block, each round takes and returns a block: while Numba compiles, this costs up to a sixth of
    the CPU time. A function whose frame claims more room gets a larger block, and the calls below
    it use the rest of that block.
    """
    # the room for a frame's values: the function uses only a few of these words
    function.__code__ = function.__code__.replace(co_stacksize=STACK_WORDS)
    return function


@with_stack  # commands compile kernels
def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name (default: those of the process).

    Returns
    -------
    code : int
        0: success; 1: the work failed; 2: the input is wrong; 3 to 6: verdicts, see
        `routelab.api.verdicts`; 70: a defect of routelab; 130: interrupted; 141: the reader
        of the output closed it.
    """
    # By default, Python looks for garbage after 700 new objects (2000 from Python 3.13 on). Numba
    # makes millions of objects that stay, so most searches find nothing: to look less often saves
    # 7 % of the CPU time.
    gc.set_threshold(50_000)
    # standard output or error that is closed (`>&-`) is None; the null device takes its place
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - pathlib costs time
    if problem := unsupported_platform():
        print(f"routelab: error: {problem}", file=sys.stderr)
        return 2
    try:
        parser = make_parser()
        # set by the shell when somebody presses Tab
        if "_ARGCOMPLETE" in os.environ:
            from routelab.commands._shared.completion import complete

            complete(parser)
        arguments = parser.parse_args(argv)
        # An import of logging takes as long as all other imports. A help needs none.
        from routelab.commands._shared.errors import report_error
        from routelab.commands._shared.logging import log_to_stderr

        # Errors are caught twice. The inner block reports expected ones, as the options of the
        # command require. The outer one has those that `report_error` raises again, and those
        # before a command runs.
        with log_to_stderr(arguments):
            try:
                _require_working_directory()
                # the function that `add_parser` in the module of the command has registered
                code: int = arguments.run(arguments)
                sys.stdout.flush()
                return code
            except (Exception, KeyboardInterrupt, SystemExit) as error:
                return report_error(error)
    except SystemExit as exit_:  # by the parser: a help, the version or a wrong option
        return exit_.code if isinstance(exit_.code, int) else 2
    except KeyboardInterrupt:  # before a command runs, while its options are determined
        print("routelab: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _discard_output()
        return 141  # 128 + SIGPIPE, as shells do
    except OSError as error:
        # The disk or the quota of standard output is full, or its device fails. An error about a
        # file would have the name of the file.
        cannot_write = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO)
        is_about_output = cannot_write and error.filename is None
        if not is_about_output:
            return _report_defect(error)
        _discard_output()
        print(f"routelab: error: cannot write the output: {error.strerror}", file=sys.stderr)
        return 2
    except Exception as error:
        return _report_defect(error)


def _report_defect(error: Exception) -> int:
    """Print the traceback of an error that nobody expected, and return its exit code."""
    import traceback

    traceback.print_exception(error)
    return DEFECT


def _discard_output() -> None:
    """Send what is left in the buffer of standard output to the null device."""
    # the interpreter flushes once more at its end and would print an error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _require_working_directory() -> None:
    """Raise InputError if the working directory was removed: commands open relative paths."""
    from routelab.api.errors import InputError

    try:
        os.getcwd()  # noqa: PTH109 - pathlib costs time
    except FileNotFoundError:
        raise InputError(
            "the working directory was removed; change to another one, with cd"
        ) from None


def make_parser() -> Parser:
    """Return the parser of the command line with all commands."""
    parser = Parser(
        prog="routelab",
        description="Experiments with routing algorithms for HPC interconnects.",
        examples=EXAMPLES,
        groups=GROUPS,
    )
    parser.general.add_argument("--version", action="version", version=f"routelab {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):  # modules with an underscore are shared by commands
            importlib.import_module(f"{commands.__name__}.{module.name}").add_parser(subparsers)
    return parser

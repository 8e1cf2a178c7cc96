"""Versions of external programs."""

from __future__ import annotations

import re
from functools import cache

from routelab.toolkit.programs import NotStartedError, run_program

SECONDS = 10.0
"""Limit of the wall time in which a program must print its version."""


@cache
def program_version(program: str, option: str = "--version") -> str:
    """Return the version that a program prints, such as ``3.3.23``; start it once per process.

    Parameters
    ----------
    program : str
        Its name or path.
    option : str
        Option that prints the version.

    Returns
    -------
    version : str
        The first number with a dot in the output, else in the errors; empty if there is none, the
        program is missing or it takes more than `SECONDS`.
    """
    try:
        answer = run_program([program, option], seconds=SECONDS)
    except NotStartedError:
        return ""
    version = re.search(r"\d+(\.\d+)+", f"{answer.stdout}\n{answer.stderr}")
    return version[0] if version and not answer.timed_out else ""

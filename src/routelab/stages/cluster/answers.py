"""What a check of a cluster says, and how it asks the system."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "missing", "cannot tell"]

SECONDS = 30.0
"""How long an answer is waited for."""


@dataclass(frozen=True)
class Check:
    """One thing that jobs need.

    Attributes
    ----------
    what : str
    state : {"ok", "missing", "cannot tell"}
    found : str
        What there is instead, or of which kind it is.
    mend : str
        What to do; empty if nothing has to be done.
    """

    what: str
    state: State
    found: str = ""
    mend: str = ""


def refused(what: str, error: Exception, *known: str) -> list[Check]:
    """A check for each line of an error, whose mend follows on a semicolon.

    Parameters
    ----------
    what : str
    error : Exception
    *known : str
        Beginnings of the lines, one behind the other, that are left out where they are.
    """
    checks = []
    for line in str(error).splitlines():
        for part in known:
            line = line.removeprefix(part)
        found, _, mend = line.partition("; ")
        checks.append(Check(what, "missing", found, mend))
    return checks


@dataclass(frozen=True)
class Answer:
    """How a command ended.

    Attributes
    ----------
    code : int or None
        None: it could not be started, or did not end in time; `said` tells why.
    printed, said : str
        Standard output and error.
    """

    code: int | None
    printed: str = ""
    said: str = ""

    @property
    def reason(self) -> str:
        """Why it failed, in one line."""
        lines = [*self.said.splitlines(), *self.printed.splitlines()]
        told = [line.strip() for line in lines if line.strip()]
        return told[0] if told else f"exit code {self.code}"


def ask(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Answer:
    """Run a command without a shell and without input.

    Parameters
    ----------
    arguments : sequence of str
    environment : mapping, optional
        Variables besides those there are.
    """
    try:
        done = subprocess.run(
            list(arguments),
            env={**os.environ, **(environment or {}), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except OSError as error:
        return Answer(None, said=f"{arguments[0]}: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Answer(None, said=f"{arguments[0]} did not answer within {SECONDS:g} s")
    return Answer(done.returncode, done.stdout, done.stderr)

"""Results of checks of a cluster, and commands that query the system."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "missing", "cannot tell"]

SECONDS = 30.0
"""Time limit of a command."""


@dataclass(frozen=True)
class ClusterCheck:
    """The result of checking one requirement of jobs.

    Attributes
    ----------
    what : str
    state : {"ok", "missing", "cannot tell"}
    found : str
        What was found instead, or its kind.
    fix : str
        How to fix it; empty if no fix is needed.
    """

    what: str
    state: State
    found: str = ""
    fix: str = ""


def checks_of_error(what: str, error: Exception, *known: str) -> list[ClusterCheck]:
    """Return a check for each line of an error, whose fix follows a semicolon.

    Parameters
    ----------
    what : str
    error : Exception
    *known : str
        Beginnings of lines, in order, that are removed where they occur.
    """
    checks = []
    for line in str(error).splitlines():
        for part in known:
            line = line.removeprefix(part)
        found, _, fix = line.partition("; ")
        checks.append(ClusterCheck(what, "missing", found, fix))
    return checks


@dataclass(frozen=True)
class CommandOutput:
    """How a command ended.

    Attributes
    ----------
    code : int or None
        None: it could not be started, or did not end in time; `stderr` has the reason.
    stdout, stderr : str
        Standard output and error.
    """

    code: int | None
    stdout: str = ""
    stderr: str = ""

    @property
    def reason(self) -> str:
        """Reason of the failure, in one line."""
        lines = [*self.stderr.splitlines(), *self.stdout.splitlines()]
        text = [line.strip() for line in lines if line.strip()]
        return text[0] if text else f"exit code {self.code}"


def query_system(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> CommandOutput:
    """Run a command without a shell and without input.

    Parameters
    ----------
    arguments : sequence of str
    environment : mapping, optional
        Variables in addition to the present ones.
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
        return CommandOutput(None, stderr=f"{arguments[0]}: {error.strerror}")
    except subprocess.TimeoutExpired:
        return CommandOutput(None, stderr=f"{arguments[0]} did not answer within {SECONDS:g} s")
    return CommandOutput(done.returncode, done.stdout, done.stderr)

"""Results of checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class CheckResult:
    """One check of one plugin on one input.

    Attributes
    ----------
    check, input : str
        Names; the input of a check without inputs is the plugin's instance name.
    status : {"passed", "failed", "skipped"}
    message : str
        Reason of a failed or skipped check; findings of a passed one, often empty.
    seconds : float
        Wall time.
    """

    check: str
    input: str
    status: Status
    message: str
    seconds: float


class Failed(Exception):  # noqa: N818 - an outcome, as in pytest
    """The plugin breaks its contract or a claim, as the text explains."""


class Skipped(Exception):  # noqa: N818 - an outcome, as in pytest
    """The check does not apply; the text is the reason."""

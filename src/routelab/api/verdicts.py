"""The verdicts of all checks, and their exit codes.

``proven``
    Free of deadlock.
``proven if declared``
    Free of deadlock, if a declaration of the algorithm holds that was checked in a sample, or if
    what its functions use besides their arguments decides nothing.
``cycle``
    Resources wait for each other in a cycle: the criterion fails. Packets need not deadlock.
``broken``
    The routes or the algorithm have a fault, such as a loop or a dead end.
``unproven``
    Neither a fault nor a proof was found: no fault in the examined states, or no criterion applies.
``not enough input``
    The files do not say what decides.
"""

from __future__ import annotations

from typing import Literal

Status = Literal["proven", "proven if declared", "cycle", "broken", "unproven", "not enough input"]
PROVEN: tuple[Status, ...] = ("proven", "proven if declared")
EXIT_CODES: dict[Status, int] = {
    "proven": 0,
    "proven if declared": 0,
    "not enough input": 3,
    "unproven": 4,
    "cycle": 5,
    "broken": 6,
}
"""Exit codes of commands whose result is a verdict; 1, 2 and 70 are those of errors."""

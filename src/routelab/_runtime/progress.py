"""Progress reports of long work.

They are records of the logger ``routelab.progress`` at level DEBUG, with the attributes ``task``,
``phase`` and ``ended``. The command line shows them on a terminal, ``--verbose`` prints them,
notebooks and tests ignore them. `current` is the last one, whatever is logged.
"""

from __future__ import annotations

import logging

LOGGER = "routelab.progress"
WAITING = "waiting"

current = ""
"""Task and phase of this process; empty after the end of a task."""

logging.getLogger("routelab").addHandler(logging.NullHandler())


def report_phase(task: str, phase: str, ended: bool = False) -> None:
    """Report the phase of a task.

    Parameters
    ----------
    task : str
        Name for users, e.g. that of a routing.
    phase : str
        Current phase, or the result of a finished task; `WAITING` before the start.
    ended : bool
        Whether the task is finished.
    """
    global current
    # a task that waits does not replace the one at work
    if phase != WAITING:
        current = "" if ended else f"{task}: {phase}"
    extra = {"task": task, "phase": phase, "ended": ended}
    logging.getLogger(LOGGER).debug("%s: %s", task, phase, extra=extra)

"""What long work tells of itself while it runs.

It goes through the logger ``routelab.progress`` at level DEBUG, with the attributes ``task``,
``phase`` and ``ended`` on each record. Nobody hears it who does not listen: the command line
shows it on a terminal, ``--verbose`` prints it, notebooks and tests stay silent.
"""

from __future__ import annotations

import logging

LOGGER = "routelab.progress"
WAITING = "waiting"

logging.getLogger("routelab").addHandler(logging.NullHandler())


def tell(task: str, phase: str, ended: bool = False) -> None:
    """Tell which phase a task is in.

    Parameters
    ----------
    task : str
        What people know it by, e.g. the name of a routing.
    phase : str
        What is being done, or, of a task that has ended, what became of it; `WAITING` before it
        begins.
    ended : bool
    """
    extra = {"task": task, "phase": phase, "ended": ended}
    logging.getLogger(LOGGER).debug("%s: %s", task, phase, extra=extra)

"""Work in a process that has loaded its kernels, even if a plugin kills or blocks the loading."""

from __future__ import annotations

import gc
import logging
import mmap
from collections.abc import Callable

from routelab.api.errors import RoutelabError
from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure
from routelab.study.study import Limits

PREPARE_SECONDS = 20.0
"""CPU time for routing or simulating a tiny network, without compilation."""

logger = logging.getLogger(__name__)


def in_prepared_process(
    prepare: Callable[[], None], work: Callable[[], None], limits: Limits
) -> None:
    """Do `work`, which forks its jobs, in a child of this process after `prepare`.

    So all jobs inherit what was loaded. If the child ends before the first job, another child
    does the work, and each job loads its kernels itself.

    Parameters
    ----------
    prepare, work : callable
    limits : Limits
        Of the preparation.

    Raises
    ------
    RoutelabError
        If the work could not be done, for example on a full disk.
    """
    prepared = mmap.mmap(-1, 1)  # memory that child and parent share

    def do() -> int:
        prepared[0] = 1
        try:
            work()
        except RoutelabError as error:
            logger.error("%s", error)
            return 1
        return 0

    def prepare_and_do() -> int:
        prepare()
        gc.freeze()  # else the first collection in every job copies all memory that jobs share
        return do()

    ending = run_limited(prepare_and_do, lambda: None if prepared[0] else limits)
    if not prepared[0]:
        reason = ending.reason if isinstance(ending, Failure) else "see above"
        logger.warning("kernels could not be loaded before the jobs: %s", reason)
        # in a child all the same: if one of the two supervisors is killed, the other ends the jobs
        ending = run_limited(do)
    if ending != 0:
        reason = f"their process {ending.reason}" if isinstance(ending, Failure) else "see above"
        raise RoutelabError(f"no outcome was written for some jobs: {reason}")

"""Where a Snakemake process begins: with a plan, or on a node with the steps of its run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.jobs.run_lifetime import announce_run
from routelab.workflow.step_file import Step, read_steps

if TYPE_CHECKING:
    from routelab.workflow.plan.plan import Plan


def begin_run(workflow: Any, config: Mapping[str, Any]) -> tuple[Plan | None, dict[str, Step]]:
    """Return the plan and the steps of a Snakemake run.

    A job that an executor has started on a node reads the steps of its run, and has no plan.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    config : mapping
        See `routelab.workflow.snakefile.begin_run`.
    """
    steps = read_steps() if workflow.remote_exec else None
    # The executor removes all variables of Slurm from the process in which a rule runs. One of them
    # has the path of Slurm's configuration, if that is not in its usual location: jobs get a copy.
    slurm_variable, copy = "SLURM_CONF", "ROUTELAB_SLURM_CONF"
    if slurm_variable in os.environ:
        os.environ[copy] = os.environ[slurm_variable]
    elif copy in os.environ:  # in such a process
        os.environ[slurm_variable] = os.environ[copy]
    # jobs find `routelab` also where the environment of this interpreter is not activated
    os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)
    if workflow.remote_exec or workflow.is_main_process:
        announce_run()  # jobs inside belong to this process, wherever the run was started
    if steps is not None:
        return None, steps
    from routelab.workflow import snakefile  # what jobs on nodes do not import

    return snakefile.begin_run(workflow, config)

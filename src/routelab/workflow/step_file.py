"""What the rules of batches read of the plan, also in jobs on the nodes of a cluster.

An executor starts Snakemake on a node for each job, that of Slurm even twice. Each would import
all plugins and expand all studies, which takes 2 CPU-s. So the run writes its steps into a file,
and jobs read it with few imports. Each run has a file with another name, which no node can have in
the cache of its file system. The file ends with the run, and then jobs that are left end, too.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from routelab.api.errors import InputError

VARIABLE = "ROUTELAB_STEPS"
"""Environment variable with the file of the run."""

LIST_SECONDS = 90.0
"""Time in which a node sees a new list of work: NFS keeps attributes for up to 60 s."""


@dataclass(frozen=True)
class Step:
    """A batch, as its rule sees it.

    Attributes
    ----------
    inputs : tuple of str
        Files that its jobs read.
    before : mapping of str to sequence of str
        Manifests of batches that must have run, by kind.
    work : tuple of str
        `spec` as an input of the rule, or nothing: see `Plan.work` and `Plan.work_to_repeat`.
    spec : str
        Path of the list of work: the file that lists the jobs of the batch.
    fingerprint : str
        That of the batch: it changes when jobs are added or removed, or compute something else.
    priority : int
    memory_mb : int
        Memory to ask for, in MiB; 0 for whole nodes.
    minutes : int
        Time to ask for.
    nodes, hosts, partition, account, slurm_extra, is_done
        Of a comparison, the only kind that runs on several nodes; see `ComparisonJob`. Other
        batches have the defaults.
    """

    inputs: tuple[str, ...]
    before: Mapping[str, tuple[str, ...]]
    work: tuple[str, ...]
    spec: str
    fingerprint: str
    priority: int
    memory_mb: int
    minutes: int
    nodes: int = 1
    hosts: str = ""
    partition: str = ""
    account: str = ""
    slurm_extra: str = ""
    is_done: bool = False


def write_steps(steps: Mapping[str, Step], folder: Path) -> Path:
    """Write the file of a run, and remove those of earlier runs.

    Parameters
    ----------
    steps : mapping of str to Step
        By the path of the list of work.
    folder : Path

    Returns
    -------
    path : Path
        Absolute.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.iterdir():
        earlier.unlink(missing_ok=True)
    path = folder.absolute() / f"{secrets.token_hex(8)}.json"
    path.write_text(json.dumps({spec: asdict(step) for spec, step in steps.items()}))
    return path


def read_steps() -> dict[str, Step] | None:
    """Return the steps of the run that submitted this job; None if it wrote no file.

    If the run has ended, and so removed its file, this process ends with one line.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    try:
        text = Path(path).read_text()
    except FileNotFoundError:
        sys.exit("The run of this job has ended, so the job does nothing.")
    return {spec: Step(**facts) for spec, facts in json.loads(text).items()}


def wait_for_list(spec: Path, seconds: float = LIST_SECONDS) -> None:
    """Wait until this machine sees the list of work that its run has written.

    A network file system may still show an earlier list. With that one, a batch would run other
    jobs and be marked as done. The steps of the run tell which list is meant: their file has a new
    name in each run, so no earlier one can be seen in its place.

    Parameters
    ----------
    spec : Path
    seconds : float
        Longest time to wait.

    Raises
    ------
    InputError
        If the list is another one after that time.
    """
    try:
        step = json.loads(Path(os.environ.get(VARIABLE, "")).read_text()).get(str(spec))
    except OSError:  # no job of a cluster, or its run has just ended
        return
    deadline = time.monotonic() + seconds
    while step is not None:
        with suppress(OSError, ValueError):
            if json.loads(spec.read_text()).get("fingerprint") == step["fingerprint"]:
                return
        if time.monotonic() > deadline:
            raise InputError(f"{spec} is not the list of work that its run has written")
        time.sleep(1)

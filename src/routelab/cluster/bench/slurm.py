"""The allocation of a session: its hosts, and whether it still exists."""

from __future__ import annotations

import logging
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from routelab.api import InputError, RoutelabError, RunOutput
from routelab.study.cluster.hostlist import compress, expand, find_hosts
from routelab.study.cluster.keys import Cluster
from routelab.toolkit.programs import NotStartedError, run_program

logger = logging.getLogger(__name__)

UNREACHABLE_SECONDS = 120.0
"""Longest time to wait for a controller that does not answer."""

RETRY_SECONDS = 3.0

_COMMAND_SECONDS = 30.0
"""Time limit of a Slurm command."""

_END_ATTEMPTS, _END_SECONDS = 5, 0.4
"""How often Slurm is asked how a job ended, and the time between."""

_END_OF_STATE = {
    "CANCELLED": "was cancelled with scancel",
    "TIMEOUT": "reached its time limit",
    "NODE_FAIL": "lost a node",
    "PREEMPTED": "was preempted by another job",
    "DEADLINE": "reached its deadline",
    "OUT_OF_MEMORY": "ran out of memory",
}
"""How jobs end, by their last state in Slurm."""

_SRUN_START_ERROR = re.compile(
    r"^srun: error: .*(Unable to create step for job|Unable to confirm allocation for job"
    r"|Application launch failed|Task launch for .* failed|Unable to contact slurm controller).*$",
    re.MULTILINE,
)


class AllocationLostError(RoutelabError):
    """The nodes no longer belong to this job."""


@dataclass(frozen=True)
class Allocation:
    """A job of Slurm that this process is part of.

    Attributes
    ----------
    job_id : str
    hosts : tuple of str
    """

    job_id: str
    hosts: tuple[str, ...]

    def node_names(self, hosts: Sequence[str]) -> tuple[str, ...]:
        """Return Slurm's names of hosts, in their order: for ``n1.site`` perhaps ``n1``.

        Raises
        ------
        InputError
            If the allocation lacks a host.
        """
        name_of_host = find_hosts(hosts, self.hosts)
        missing_hosts = [host for host in hosts if host not in name_of_host]
        if missing_hosts:
            raise InputError(
                f"job {self.job_id} has {compress(self.hosts)}, but not {compress(missing_hosts)}; "
                f"ask for the node set: salloc --nodelist={compress(slurm_names(hosts))} ..."
            )
        return tuple(name_of_host[host] for host in hosts)

    def ensure_alive(self) -> None:
        """Check that the job still runs; wait for a controller that does not answer.

        Raises
        ------
        AllocationLostError
        """
        deadline = time.monotonic() + UNREACHABLE_SECONDS
        while True:
            state = self._state()
            if state == "RUNNING":
                return
            if state is not None:  # Slurm answered: the job has another state, or is unknown ("")
                raise AllocationLostError(
                    f"Slurm's job {self.job_id} is lost ({state or 'it is no longer known'})"
                )
            if time.monotonic() > deadline:
                raise AllocationLostError(
                    f"Slurm did not answer for {UNREACHABLE_SECONDS:g} s about job {self.job_id}"
                )
            time.sleep(RETRY_SECONDS)

    def end_text(self) -> str:
        """Ask Slurm how the job ended: ``was cancelled with scancel``; empty if it does not say."""
        for attempt in range(_END_ATTEMPTS):
            time.sleep(_END_SECONDS if attempt else 0.0)
            text = _run_slurm(["scontrol", "show", "job", "--oneliner", self.job_id]) or ""
            match = re.search(r"\bJobState=(?P<state>\w+)", text)
            # Slurm may not have noted the end yet: then ask again.
            if match and match["state"] not in ("RUNNING", "COMPLETING"):
                return _END_OF_STATE.get(match["state"], f"ended as {match['state']}")
        return ""

    def end_step(self, name: str) -> None:
        """End the steps of this job with that name, with all their processes."""
        listed = _run_slurm(["squeue", "--steps", "--noheader", "--format=%i %j"])
        for line in (listed or "").splitlines():
            step_id, _, step_name = line.strip().partition(" ")  # "17.3 NAME" is step 3 of job 17
            if step_name == name and step_id.startswith(f"{self.job_id}."):
                _run_slurm(["scancel", "--signal=KILL", step_id])

    def _state(self) -> str | None:
        """Return the job's state; empty if Slurm does not know it, None without an answer."""
        command = ["squeue", "--noheader", f"--jobs={self.job_id}", "--format=%T"]
        try:
            answer = run_program(command, seconds=_COMMAND_SECONDS)
        except NotStartedError:
            return None
        if answer.succeeded:
            return answer.stdout.strip()
        return "" if "Invalid job id" in answer.stderr else None


def allocation(environment: Mapping[str, str] = os.environ) -> Allocation | None:
    """Return the allocation in which this process runs; None without one.

    Its hosts are empty if Slurm does not answer.
    """
    job_id = environment.get("SLURM_JOB_ID")
    if not job_id:
        return None
    node_list = environment.get("SLURM_JOB_NODELIST")  # such as n[01-04]
    if not node_list:
        node_list = _run_slurm(["squeue", "--noheader", f"--jobs={job_id}", "--format=%N"]) or ""
    return Allocation(job_id, tuple(expand(node_list.strip())) if node_list.strip() else ())


def slurm_names(hosts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of hosts in Slurm; hosts that it does not list stay as given.

    Raises
    ------
    InputError
        If a host may be any of several nodes.
    """
    name_of_host = find_hosts(hosts, slurm_nodes())
    return tuple(name_of_host.get(host, host) for host in hosts)


def slurm_nodes() -> list[str]:
    """Return the names of Slurm's nodes; empty without an answer."""
    listed = _run_slurm(["sinfo", "--all", "--noheader", "--Node", "--format=%N"]) or ""
    return listed.split()


def salloc_command(
    cluster: Cluster,
    hosts: Sequence[str],
    minutes: int,
    command: Sequence[str],
    *,
    dry: bool = False,
) -> list[str]:
    """Return the salloc command that runs another one in an allocation of the hosts.

    Parameters
    ----------
    cluster : Cluster
    hosts : sequence of str
    minutes : int
        Time limit of the allocation.
    command : sequence of str
        The command to run in it.
    dry : bool, optional
        Whether the command is only shown; then a missing salloc is only a warning.

    Raises
    ------
    InputError
        If salloc is not found, or a host may be any of several nodes.
    """
    program = shutil.which("salloc")
    if program is None:
        problem = (
            "launcher srun: no allocation (SLURM_JOB_ID is not set) and no salloc to request "
            "one; run this on a host with Slurm's commands"
        )
        if not dry:
            raise InputError(problem)
        logger.warning("%s", problem)
    return [
        program or "salloc",
        f"--nodes={len(hosts)}",
        f"--nodelist={compress(slurm_names(hosts))}",
        "--exclusive",
        "--job-name=routelab",
        "--kill-command=TERM",  # otherwise the command would not notice the end of the job
        *((f"--partition={cluster.partition}",) if cluster.partition else ()),
        *((f"--account={cluster.account}",) if cluster.account else ()),
        f"--time={minutes}",
        *cluster.allocation,
        *command,
    ]


def srun_start_error(output: RunOutput) -> str:
    """Return srun's message if it could not start a program; empty if it could.

    For some seconds after a restart of Slurm's controller, srun refuses to start steps, although
    the job continues and the same step starts a little later. That is not the program's failure.
    """
    if output.exit_code == 0 or output.stdout.strip():  # a program that printed was started
        return ""
    message = _SRUN_START_ERROR.search(output.stderr)
    return message[0] if message else ""


def _run_slurm(arguments: Sequence[str]) -> str | None:
    """Run a command of Slurm and return its output; None if it fails or does not answer."""
    try:
        answer = run_program(arguments, seconds=_COMMAND_SECONDS)
    except NotStartedError:
        return None
    return answer.stdout if answer.succeeded else None

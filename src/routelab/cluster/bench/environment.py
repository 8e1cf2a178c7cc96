"""Circumstances of runs: versions, environment, and the hosts on which ranks really run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from routelab.api import RoutelabError
from routelab.cluster.bench.fabric.switching import last_lines
from routelab.cluster.bench.launchers import Launcher, driver_environment, probe_command, run_launch
from routelab.cluster.bench.store import STDERR, STDOUT
from routelab.study.cluster.hostlist import short_name
from routelab.toolkit.programs import NotStartedError, run_program

RELEVANT = re.compile(
    r"^(SLURM_(JOB|NNODES|NTASKS|CLUSTER)|OMPI_|OMP_|MPI|MPICH_|HYDRA_|I_MPI_|FI_|UCX_|PMI|PSM|ANGARA)"
)
"""Names of variables that may affect a benchmark and have no secrets."""

PROBE_SECONDS = 120.0

_RANK_LINE = re.compile(r"^rank (\d+|\?) of (\d+|\?) on (\S+) with (.+)$", re.MULTILINE)
"""Lines that `probe_command` prints: rank, number of ranks, host and system. A question mark is a
number that the launcher does not tell."""


def environment_of(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that may affect a run, in order."""
    return {name: environment[name] for name in sorted(environment) if RELEVANT.match(name)}


def relevant_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that affect MPI and its network, without those about the job itself.

    They are part of a run's identity. Variables of Slurm and PMI are left out: some differ in every
    job, so with them a later job would find none of the stored runs.
    """
    variables = environment_of(driver_environment(environment))
    return {
        name: text for name, text in variables.items() if not name.startswith(("SLURM_", "PMI"))
    }


def versions_of(launcher: Launcher) -> dict[str, str]:
    """Return the launcher's version by its name: the first line of its output with a number x.y.

    Empty if it prints none.
    """
    try:
        answer = run_program([launcher.program, "--version"], seconds=PROBE_SECONDS)
    except NotStartedError:
        return {}
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    version = next((line for line in lines if re.search(r"\d+\.\d+", line)), "")
    return {launcher.cluster.launcher: version} if version else {}


def probe_ranks(
    launcher: Launcher, folder: Path, mark: str, seconds: float = PROBE_SECONDS
) -> dict[str, Any]:
    """Start a probe in the same way as benchmarks, and find the host of each rank.

    Parameters
    ----------
    launcher : Launcher
    folder : Path
        An existing folder that all hosts can read.
    mark : str
        Mark of the session's programs, see `routelab.cluster.bench.processes.marks.MARK`.
    seconds : float
        Time limit.

    Returns
    -------
    facts : dict
        ``host_of_rank``: names by rank; ``systems``: different kernels, such as ``Linux 6.1``.

    Raises
    ------
    RoutelabError
        If the probe cannot be started, or ranks run on the wrong hosts: results would belong to
        another network.
    """
    launch = launcher.make_launch(probe_command(launcher.cluster.launcher), "routelab-probe")
    end = run_launch(launch, folder, seconds, mark)
    stdout = (folder / STDOUT).read_text(errors="replace")
    stderr = (folder / STDERR).read_text(errors="replace")
    if end.exit_code or end.timed_out:
        problem = f"took longer than {seconds:g} s" if end.timed_out else f"code {end.exit_code}"
        raise RoutelabError(
            f"{launcher.program} cannot start {launcher.ranks} ranks "
            f"({problem}){last_lines(stderr)}"
        )
    rank_lines = _RANK_LINE.findall(stdout)
    return {
        "host_of_rank": check_hosts_of_ranks(rank_lines, launcher.hosts, launcher.ranks),
        "systems": sorted({system for _rank, _size, _host, system in rank_lines}),
    }


def check_hosts_of_ranks(
    rank_lines: Sequence[tuple[str, str, str, str]], hosts: Sequence[str], num_ranks: int
) -> list[str]:
    """Check that the requested ranks run, each on the right host, and return the host of each.

    Parameters
    ----------
    rank_lines : sequence of (str, str, str, str)
        Rank, number of ranks, host and system that each process printed; ``?`` is a number that the
        launcher did not give it.
    hosts : sequence of str
        Hosts in the order of the network; the ranks are in blocks: of 4 ranks on a and b, 0 and 1
        must run on a. Empty: any host is right.
    num_ranks : int
        Number of ranks that were requested.

    Raises
    ------
    RoutelabError
    """
    # A launcher of another MPI starts n processes that are each rank 0 of 1, so ranks of another
    # number do not count.
    host_of_rank = {
        int(rank): host
        for rank, size, host, _system in rank_lines
        if rank != "?" and size == str(num_ranks)
    }
    if len(rank_lines) != num_ranks or sorted(host_of_rank) != list(range(num_ranks)):
        raise RoutelabError(
            f"{num_ranks} ranks were requested, but {len(rank_lines)} processes started that are "
            f"{len(host_of_rank)} different ranks of {num_ranks}; the launcher belongs to another "
            "MPI, or its options change the number"
        )
    if hosts:
        ranks_per_host = num_ranks // len(hosts)
        for rank in range(num_ranks):
            expected_host = hosts[rank // ranks_per_host]
            # a process may name its host with the domain, Slurm without it
            if short_name(host_of_rank[rank]) != short_name(expected_host):
                raise RoutelabError(
                    f"rank {rank} runs on {host_of_rank[rank]} but must run on {expected_host}; "
                    "the launcher does not keep the order of the network "
                    "(check 'options' in the cluster's file)"
                )
    return [host_of_rank[rank] for rank in range(num_ranks)]

"""Circumstances of runs: versions, environment, and the hosts on which ranks really run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from routelab.api import RoutelabError
from routelab.cluster.bench.fabric.switching import last_lines
from routelab.cluster.bench.launchers import Launcher, driver_environment, probe, run_launch
from routelab.cluster.bench.store import STDERR, STDOUT
from routelab.study.cluster.hostlist import short_name
from routelab.toolkit.programs import NotStartedError, run_program

RELEVANT = re.compile(
    r"^(SLURM_(JOB|NNODES|NTASKS|CLUSTER)|OMPI_|OMP_|MPI|MPICH_|HYDRA_|I_MPI_|FI_|UCX_|PMI|PSM|ANGARA)"
)
"""Names of variables that may affect a benchmark and have no secrets."""

PROBE_SECONDS = 120.0

_RANK_LINE = re.compile(r"^rank (\d+|\?) of (\d+|\?) on (\S+) with (.+)$", re.MULTILINE)


def environment_of(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that may affect a run, in order."""
    return {name: environment[name] for name in sorted(environment) if RELEVANT.match(name)}


def relevant_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return those that affect MPI and its network, without those about the job itself."""
    texts = environment_of(driver_environment(environment))
    return {name: text for name, text in texts.items() if not name.startswith(("SLURM_", "PMI"))}


def versions_of(launcher: Launcher) -> dict[str, str]:
    """Return the launcher's version: the first line of its output that has a number."""
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
        Of the session, see `routelab.cluster.bench.processes.marks.MARK`.
    seconds : float
        Limit.

    Returns
    -------
    places : dict
        ``host_of_rank`` and ``systems``, the kernels.

    Raises
    ------
    RoutelabError
        If the probe cannot be started, or ranks run on the wrong hosts: results would belong to
        another network.
    """
    launch = launcher.launch(probe(launcher.cluster.launcher), "routelab-probe")
    ended = run_launch(launch, folder, seconds, mark)
    printed = (folder / STDOUT).read_text(errors="replace")
    errors = (folder / STDERR).read_text(errors="replace")
    if ended.exit_code or ended.timed_out:
        how = f"took longer than {seconds:g} s" if ended.timed_out else f"code {ended.exit_code}"
        raise RoutelabError(
            f"{launcher.program} cannot start {launcher.ranks} ranks ({how}){last_lines(errors)}"
        )
    rank_lines = _RANK_LINE.findall(printed)
    return {
        "host_of_rank": hosts_of_ranks(rank_lines, launcher.hosts, launcher.ranks),
        "systems": sorted({system for *_, system in rank_lines}),
    }


def hosts_of_ranks(
    lines: Sequence[tuple[str, str, str, str]], hosts: Sequence[str], ranks: int
) -> list[str]:
    """Return the host of each rank, after checking that all ranks run where they must.

    Raises
    ------
    RoutelabError
    """
    host_of = {int(rank): host for rank, of, host, _ in lines if rank != "?" and of == str(ranks)}
    if len(lines) != ranks or sorted(host_of) != list(range(ranks)):
        raise RoutelabError(
            f"{ranks} ranks were requested, but {len(lines)} processes started that are "
            f"{len(host_of)} different ranks of {ranks}; the launcher belongs to another MPI, "
            "or its options change the number"
        )
    for rank in range(ranks if hosts else 0):
        expected_host = hosts[rank // (ranks // len(hosts))]
        if short_name(host_of[rank]) != short_name(expected_host):
            raise RoutelabError(
                f"rank {rank} runs on {host_of[rank]} but must run on {expected_host}; the "
                "launcher does not keep the order of the network "
                "(check 'options' in the cluster's file)"
            )
    return [host_of[rank] for rank in range(ranks)]

"""Under which circumstances runs are done: versions, environment, and where ranks really are."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from routelab.api import RoutelabError
from routelab.bench.fabric.switching import last_lines
from routelab.bench.launchers import Launcher, inherited, probe, run_launch
from routelab.bench.store import STDERR, STDOUT

KEPT = re.compile(
    r"^(SLURM_(JOB|NNODES|NTASKS|CLUSTER)|OMPI_|OMP_|MPI|MPICH_|HYDRA_|I_MPI_|FI_|UCX_|PMI|PSM|ANGARA)"
)
"""Names of variables that may matter to a benchmark and hold no secrets."""

PROBE_SECONDS = 120.0

_PLACE = re.compile(r"^rank (\d+|\?) of (\d+|\?) on (\S+) with (.+)$", re.MULTILINE)


def environment_of(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that may matter, in order."""
    return {name: environment[name] for name in sorted(environment) if KEPT.match(name)}


def mattering(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Those of them that change how MPI and its network work; not the place of a job."""
    kept = environment_of(inherited(environment))
    return {name: text for name, text in kept.items() if not name.startswith(("SLURM_", "PMI"))}


def versions_of(launcher: Launcher) -> dict[str, str]:
    """What the launcher says of its version: the first line that has a number."""
    try:
        done = subprocess.run(
            [launcher.program, "--version"],
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    told = next((line for line in lines if re.search(r"\d+\.\d+", line)), "")
    return {launcher.cluster.launcher: told} if told else {}


def places(
    launcher: Launcher, folder: Path, mark: str, seconds: float = PROBE_SECONDS
) -> dict[str, Any]:
    """Start a probe as benchmarks are started, and find out where ranks are.

    Parameters
    ----------
    launcher : Launcher
    folder : Path
        Exists, and is seen by all hosts.
    mark : str
        Of the session, see `routelab.bench.processes.processes.MARK`.
    seconds : float
        Limit.

    Returns
    -------
    places : dict
        ``host_of_rank`` and ``systems``, the kernels.

    Raises
    ------
    RoutelabError
        If it cannot be started, or ranks are not where they have to be: results would be of
        another network.
    """
    launch = launcher.launch(probe(launcher.cluster.launcher), "routelab-probe")
    try:
        ended = run_launch(launch, folder, seconds, mark)
    except OSError as error:
        raise RoutelabError(f"cannot start {launcher.program}: {error.strerror}") from error
    printed = (folder / STDOUT).read_text(errors="replace")
    said = (folder / STDERR).read_text(errors="replace")
    if ended.exit_code or ended.timed_out:
        how = f"took longer than {seconds:g} s" if ended.timed_out else f"code {ended.exit_code}"
        raise RoutelabError(
            f"{launcher.program} cannot start {launcher.ranks} ranks ({how}){last_lines(said)}"
        )
    found = _PLACE.findall(printed)
    return {
        "host_of_rank": placed(found, launcher.hosts, launcher.ranks),
        "systems": sorted({system for *_, system in found}),
    }


def placed(
    found: Sequence[tuple[str, str, str, str]], hosts: Sequence[str], ranks: int
) -> list[str]:
    """Host of each rank, if all of them are where they have to be.

    Raises
    ------
    RoutelabError
    """
    where = {int(rank): host for rank, of, host, _ in found if rank != "?" and of == str(ranks)}
    if len(found) != ranks or sorted(where) != list(range(ranks)):
        raise RoutelabError(
            f"{ranks} ranks were asked for, and {len(found)} processes started that are "
            f"{len(where)} different ranks of {ranks}; launcher and MPI do not go together, or "
            "its options change the number"
        )
    for rank in range(ranks if hosts else 0):
        wanted = hosts[rank // (ranks // len(hosts))]
        if where[rank].split(".")[0] != wanted.split(".")[0]:
            raise RoutelabError(
                f"rank {rank} runs on {where[rank]} and has to on {wanted}; the launcher does not "
                "keep to the order of the network (options of the cluster's file may do that)"
            )
    return [where[rank] for rank in range(ranks)]

"""Launchers of MPI processes: the exact arguments of srun, hydra and Open MPI."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from routelab.api import InputError
from routelab.cluster.bench.processes.marks import MARK, kill_marked
from routelab.cluster.bench.store import MOST_OUTPUT, STDERR, STDOUT
from routelab.study.cluster.keys import Cluster
from routelab.toolkit.programs import NotStartedError, ProgramEnd, run_program

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "srun": ("srun",),
    "mpiexec": ("mpiexec.mpich", "mpiexec.hydra", "mpiexec"),
    "openmpi": ("mpirun.openmpi", "mpiexec.openmpi", "mpirun"),
}
"""Names of each launcher's program, the least ambiguous one first."""

FIXES = {
    "srun": "run this on a host with Slurm's commands, or choose a cluster with another launcher",
    "mpiexec": "install MPICH (Debian: mpich), or set its path: program: /path/to/mpiexec",
    "openmpi": "install Open MPI (Debian: openmpi-bin), or set its path: program: /path/to/mpirun",
}

HOSTFILE = "hosts.txt"

_OF_ONE_RANK = re.compile(
    r"(PMI|PMI2|PMIX|OMPI_COMM_WORLD|OMPI_UNIVERSE|PRTE)_.*"
    r"|SLURM_(PROCID|LOCALID|NODEID|GTIDS|TASK_PID|STEP.*|SRUN_.*|LAUNCH_.*)"
    r"|SLURM_(NTASKS.*|NPROCS|TASKS_PER_NODE|DISTRIBUTION|HOSTFILE|CPU_BIND.*|MPI_TYPE)"
    r"|(SLURM|SRUN)_CPUS_PER_TASK"
)
"""Variables that tell a process which rank of which step it is, and those that srun takes for
options: those of the driver say nothing about the programs that it launches."""

_RANK_VARIABLES = {
    "srun": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "${SLURMD_NODENAME:-$(uname -n)}"),
    "mpiexec": ("PMI_RANK", "PMI_SIZE", "$(uname -n)"),
    "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "$(uname -n)"),
}
"""What a launcher tells a rank, in words of the shell: its number, that of all, and its host."""


def probe(launcher: str) -> tuple[str, ...]:
    """Return a program that prints where a rank runs; its text has no part of a configuration."""
    rank, size, host = _RANK_VARIABLES[launcher]
    text = f'echo "rank ${{{rank}:-?}} of ${{{size}:-?}} on {host} with $(uname -sr)"'
    return ("sh", "-c", text)


@dataclass(frozen=True)
class Launch:
    """A command that starts all ranks of a program.

    Attributes
    ----------
    arguments : tuple of str
    environment : mapping
        Variables that it needs in addition to the present ones.
    hostfile : str
        Text of `HOSTFILE` in the working directory; empty if none is needed.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    hostfile: str = ""


@dataclass(frozen=True)
class Launcher:
    """A launcher on a cluster.

    Attributes
    ----------
    cluster : Cluster
    program : str
        File of the launcher.
    hosts : tuple of str
        In the order of the network's terminals; empty: this machine.
    nodes : int
        Terminals of the network.
    ranks_per_node : int
    """

    cluster: Cluster
    program: str
    hosts: tuple[str, ...]
    nodes: int
    ranks_per_node: int

    @property
    def ranks(self) -> int:
        """MPI processes of a run, in blocks of hosts."""
        return self.nodes * self.ranks_per_node

    def launch(self, command: Sequence[str], name: str = "routelab") -> Launch:
        """Return the whole command for a program.

        Parameters
        ----------
        command : sequence of str
            The program and its arguments.
        name : str
            Name of the step, by which it can be ended.
        """
        arguments = getattr(self, f"_{self.cluster.launcher}")(name)
        return Launch(
            (self.program, *arguments, *self.cluster.options, *command),
            {**self._variables(), **self.cluster.environment},
            self._hostfile(),
        )

    def _srun(self, name: str) -> tuple[str, ...]:
        """Return srun's arguments for a step with this name."""
        # the hosts are in the order of the network; srun keeps it only for arbitrary layouts
        places = (f"--nodes={self.nodes}", "--distribution=arbitrary") if self.hosts else ()
        mpi = (f"--mpi={self.cluster.mpi}",) if self.cluster.mpi else ()
        return (
            *mpi,
            *places,
            f"--ntasks={self.ranks}",
            "--overlap",
            "--kill-on-bad-exit=1",
            "--input=none",
            f"--job-name={name}",
        )

    def _mpiexec(self, _name: str) -> tuple[str, ...]:
        return (*(("-f", HOSTFILE) if self.hosts else ()), "-n", str(self.ranks))

    def _openmpi(self, _name: str) -> tuple[str, ...]:
        if not self.hosts:
            return ("--oversubscribe", "-n", str(self.ranks))
        passed = [word for name in self.cluster.environment for word in ("-x", name)]
        by = f"ppr:{self.ranks_per_node}:node"
        return (*passed, "--hostfile", HOSTFILE, "--map-by", by, "-n", str(self.ranks))

    def _variables(self) -> dict[str, str]:
        """Return the variables by which srun finds the hosts; others have options."""
        if self.cluster.launcher == "srun" and self.hosts:
            return {"SLURM_HOSTFILE": HOSTFILE}
        return {}

    def _hostfile(self) -> str:
        """Return the hosts' file as the launcher reads it; "" without hosts."""
        if not self.hosts:
            return ""
        ranks_per_node = self.ranks_per_node
        lines = {
            "srun": [host for host in self.hosts for _ in range(ranks_per_node)],
            "mpiexec": [f"{host}:{ranks_per_node}" for host in self.hosts],
            "openmpi": [f"{host} slots={ranks_per_node}" for host in self.hosts],
        }[self.cluster.launcher]
        return "".join(f"{line}\n" for line in lines)


def driver_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the driver's variables, without those about its place in a job."""
    return {name: text for name, text in environment.items() if not _OF_ONE_RANK.fullmatch(name)}


def find_program(cluster: Cluster) -> str:
    """Return the file of a cluster's launcher.

    Raises
    ------
    InputError
        If it does not exist.
    """
    named = (cluster.program,) if cluster.program else PROGRAMS[cluster.launcher]
    for name in named:
        path = shutil.which(name)
        if path:
            return path
    raise InputError(
        f"launcher {cluster.launcher}: there is no {' or '.join(named)} here; "
        f"{FIXES[cluster.launcher]}"
    )


def run_launch(launch: Launch, folder: Path, seconds: float, mark: str, **more: Any) -> ProgramEnd:
    """Start all ranks of a program in a folder, which receives their output, and wait for them.

    Parameters
    ----------
    launch : Launch
    folder : Path
        Absolute path that all hosts can read.
    seconds
        As for `routelab.toolkit.programs.run_program`, as is `more`.
    mark : str
        Of the session: processes that have it are killed after the launcher's end.

    Raises
    ------
    NotStartedError
        If the launcher cannot be started, or a file of the run cannot be written.
    """
    try:
        if launch.hostfile:
            (folder / HOSTFILE).write_text(launch.hostfile, encoding="ascii")
        return run_program(
            launch.arguments,
            folder=folder,
            stdout=folder / STDOUT,
            stderr=folder / STDERR,
            environment={**driver_environment(os.environ), **launch.environment, MARK: mark},
            seconds=seconds,
            gentle=True,
            max_output=MOST_OUTPUT,
            **more,
        )
    except OSError as error:  # the disk is full
        raise NotStartedError(launch.arguments[0], error) from error
    finally:
        kill_marked(mark)

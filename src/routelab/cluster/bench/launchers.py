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

_REMEDIES = {
    "srun": "run this on a host with Slurm's commands, or choose a cluster with another launcher",
    "mpiexec": "install MPICH (Debian: mpich), or set its path: program: /path/to/mpiexec",
    "openmpi": "install Open MPI (Debian: openmpi-bin), or set its path: program: /path/to/mpirun",
}

HOSTFILE = "hosts.txt"

_VARIABLES_OF_RANK = re.compile(
    r"(PMI|PMI2|PMIX|OMPI_COMM_WORLD|OMPI_UNIVERSE|PRTE)_.*"
    r"|SLURM_(PROCID|LOCALID|NODEID|GTIDS|TASK_PID|STEP.*|SRUN_.*|LAUNCH_.*)"
    r"|SLURM_(NTASKS.*|NPROCS|TASKS_PER_NODE|DISTRIBUTION|HOSTFILE|CPU_BIND.*|MPI_TYPE)"
    r"|(SLURM|SRUN)_CPUS_PER_TASK"
)
"""Variables that say which rank of which step a process is, and those that srun takes for options.
Those of the driver must not reach the programs that it launches."""

_RANK_VARIABLES = {
    "srun": ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "${SLURMD_NODENAME:-$(uname -n)}"),
    "mpiexec": ("PMI_RANK", "PMI_SIZE", "$(uname -n)"),
    "openmpi": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "$(uname -n)"),
}
"""How a rank finds out what it is: variables with its number and the number of all ranks, and a
text that the shell replaces by its host."""


def probe_command(launcher: str) -> tuple[str, ...]:
    """Return a shell command that prints where a rank runs: ``rank 0 of 4 on n1 with Linux 6.1``.

    A question mark stands for a variable that the launcher has not set. Nothing of a configuration
    is in the command, so the shell cannot run any text of a file.
    """
    rank_variable, size_variable, host = _RANK_VARIABLES[launcher]
    # for mpiexec: echo "rank ${PMI_RANK:-?} of ${PMI_SIZE:-?} on $(uname -n) with $(uname -sr)"
    rank, size = f"${{{rank_variable}:-?}}", f"${{{size_variable}:-?}}"
    script = f'echo "rank {rank} of {size} on {host} with $(uname -sr)"'
    return ("sh", "-c", script)


@dataclass(frozen=True)
class Launch:
    """A command that starts all ranks of a program.

    Attributes
    ----------
    arguments : tuple of str
    environment : mapping
        Variables that it needs in addition to those of the driver.
    hostfile : str
        Text of `HOSTFILE` in the working directory; empty if none is needed.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    hostfile: str = ""


@dataclass(frozen=True)
class Launcher:
    """The launcher of a cluster, with the hosts and the number of ranks that it starts.

    Attributes
    ----------
    cluster : Cluster
    program : str
        File of the launcher.
    hosts : tuple of str
        In the order of the network's terminals; empty: this machine.
    nodes : int
        Number of terminals of the network. Each is a host, unless all ranks run on this machine.
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

    def make_launch(self, command: Sequence[str], step_name: str = "routelab") -> Launch:
        """Return the command that starts a program on all ranks, without running it.

        Parameters
        ----------
        command : sequence of str
            The program and its arguments.
        step_name : str
            Name of the step in Slurm, by which it can be ended; other launchers ignore it.
        """
        launcher = self.cluster.launcher
        arguments = {
            "srun": self._srun_arguments,
            "mpiexec": self._mpiexec_arguments,
            "openmpi": self._openmpi_arguments,
        }[launcher](step_name)
        # srun reads the file of hosts that this variable names; the others have an option for it.
        host_variables = {}
        if launcher == "srun" and self.hosts:
            host_variables = {"SLURM_HOSTFILE": HOSTFILE}
        return Launch(
            arguments=(self.program, *arguments, *self.cluster.options, *command),
            environment={**host_variables, **self.cluster.environment},
            hostfile=self._hostfile(),
        )

    def _srun_arguments(self, step_name: str) -> tuple[str, ...]:
        """Return srun's arguments for a step with this name."""
        # The hosts are in the order of the network. srun keeps this order only if the distribution
        # is arbitrary: then rank r runs on the host in line r of the file, from 0.
        layout = (f"--nodes={self.nodes}", "--distribution=arbitrary") if self.hosts else ()
        mpi = (f"--mpi={self.cluster.mpi}",) if self.cluster.mpi else ()
        return (
            *mpi,
            *layout,
            f"--ntasks={self.ranks}",
            "--overlap",
            "--kill-on-bad-exit=1",
            "--input=none",
            f"--job-name={step_name}",
        )

    def _mpiexec_arguments(self, _step_name: str) -> tuple[str, ...]:
        return (*(("-f", HOSTFILE) if self.hosts else ()), "-n", str(self.ranks))

    def _openmpi_arguments(self, _step_name: str) -> tuple[str, ...]:
        if not self.hosts:
            return ("--oversubscribe", "-n", str(self.ranks))
        # Open MPI passes variables to other hosts only if they are named.
        exported = [word for name in self.cluster.environment for word in ("-x", name)]
        per_node = f"ppr:{self.ranks_per_node}:node"
        return (*exported, "--hostfile", HOSTFILE, "--map-by", per_node, "-n", str(self.ranks))

    def _hostfile(self) -> str:
        """Return the text of the file of hosts as the launcher reads it; "" without hosts.

        Hosts a and b with 2 ranks each: a line per rank for srun (a, a, b, b), ``a:2`` and ``b:2``
        for mpiexec, ``a slots=2`` and ``b slots=2`` for Open MPI.
        """
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
    """Return the driver's variables, without those that say which rank of a job it is itself."""
    return {
        name: text for name, text in environment.items() if not _VARIABLES_OF_RANK.fullmatch(name)
    }


def find_program(cluster: Cluster) -> str:
    """Return the file of a cluster's launcher.

    Raises
    ------
    InputError
        If it does not exist.
    """
    names = (cluster.program,) if cluster.program else PROGRAMS[cluster.launcher]
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise InputError(
        f"launcher {cluster.launcher}: there is no {' or '.join(names)} here; "
        f"{_REMEDIES[cluster.launcher]}"
    )


def run_launch(
    launch: Launch, folder: Path, seconds: float, mark: str, **options: Any
) -> ProgramEnd:
    """Start all ranks of a program in a folder, which receives their output, and wait for them.

    Parameters
    ----------
    launch : Launch
    folder : Path
        Absolute path that all hosts can read.
    seconds : float
        Time limit.
    mark : str
        Mark of the session's programs: all that have it are killed after the launcher's end.
    **options
        Further arguments of `routelab.toolkit.programs.run_program`.

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
            gentle=True,  # so that the launcher can end its ranks on all hosts
            max_output=MOST_OUTPUT,
            **options,
        )
    except OSError as error:  # a file cannot be written, for example because the disk is full
        raise NotStartedError(launch.arguments[0], error) from error
    finally:
        kill_marked(mark)

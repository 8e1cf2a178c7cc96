"""The program of a workload: who sends what to whom, before anything is simulated."""

from __future__ import annotations

from routelab.api import (
    InputError,
    Job,
    PluginError,
    Program,
    Topology,
    UnsupportedError,
    WorkloadPlugin,
)
from routelab.jobs.blame import blame_plugin
from routelab.registry.instances import load
from routelab.simulation.flow.placement import BLOCK, place
from routelab.stages.argument_errors import together
from routelab.stages.topology import obtain


def compute(
    workload: str,
    ranks: int | None = None,
    topology: str | Topology | None = None,
    ranks_per_node: int = 1,
) -> tuple[WorkloadPlugin, Program]:
    """The program of a workload, by names.

    Parameters
    ----------
    workload : str
        Instance name.
    ranks : int, optional
        As many as fit on the network by default.
    topology : str or Topology, optional
        For what goes by places on a network; ranks are on its terminals in order.
    ranks_per_node : int
        Ranks of a terminal, where there is a network.

    Raises
    ------
    InputError
        With all that is wrong with names and numbers.
    UnsupportedError
        If the workload does not go with the job.
    PluginError
        If the plugin breaks its contract.
    """
    plugin, job = together(
        lambda: load("workload", workload), lambda: job_of(ranks, topology, ranks_per_node)
    )
    with blame_plugin([plugin]):
        return plugin, program_of(plugin, job)


def job_of(ranks: int | None, topology: str | Topology | None, ranks_per_node: int) -> Job:
    """A job, on a network if there is one; parameters and errors as `compute`."""
    problems = [
        f"`{name}` has to be 1 or more, got {value}"
        for name, value in (("ranks", ranks), ("ranks_per_node", ranks_per_node))
        if value is not None and value < 1
    ]
    if ranks is None and topology is None:
        problems.append("how many ranks are there? Give `ranks`, or a network with `topology`")
    if problems:
        raise InputError("\n".join(problems))
    if topology is None:
        assert ranks is not None
        return Job(ranks)
    network = obtain(topology)[1]
    count = network.num_terminals * ranks_per_node if ranks is None else ranks
    return Job.placed(place(BLOCK, count, network, ranks_per_node), network)


def program_of(workload: WorkloadPlugin, job: Job) -> Program:
    """What a plugin makes of a job.

    Raises
    ------
    UnsupportedError
        If it does not support the job.
    PluginError
        If it makes something else.
    """
    reason = workload.supports(job)
    if reason is not None:
        raise UnsupportedError(f"{workload.name}: {reason}")
    program = workload.program(job)
    if not isinstance(program, Program):
        raise PluginError(f"{workload.name}: expected a Program, found {type(program).__name__}")
    if program.ranks != job.ranks:
        raise PluginError(
            f"{workload.name}: made a program of {program.ranks} ranks for a job of {job.ranks}"
        )
    return program

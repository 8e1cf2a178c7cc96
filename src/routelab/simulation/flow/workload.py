"""The workload stage: the messages of a workload's program, without a simulation."""

from __future__ import annotations

from routelab.api import (
    InputError,
    Job,
    PluginError,
    Program,
    Topology,
    WorkloadPlugin,
)
from routelab.jobs.plugin_errors import as_unexpected_error
from routelab.registry.instances import load
from routelab.registry.requirements import collect_errors, require_support
from routelab.routing.topology import load_network
from routelab.simulation.flow.placement import BLOCK, rank_terminals
from routelab.simulation.flow.settings import MAX_RANKS, MAX_RANKS_PER_NODE


def workload_program(
    workload: str,
    ranks: int | None = None,
    topology: str | Topology | None = None,
    ranks_per_node: int = 1,
) -> tuple[WorkloadPlugin, Program]:
    """Return a workload and its program, by name.

    Parameters
    ----------
    workload : str
        Instance name.
    ranks : int, optional
        Number of ranks (default: as many as fit on the network).
    topology : str or Topology, optional
        Network of the job, for workloads that depend on it; ranks are on its terminals in order.
    ranks_per_node : int
        Largest number of ranks per terminal, if there is a network.

    Raises
    ------
    InputError
        Lists all mistakes in names and numbers.
    UnsupportedError
        If the workload does not support the job.
    PluginError
        If the plugin breaks its contract.
    """
    plugin, job = collect_errors(
        lambda: load("workload", workload), lambda: job_of(ranks, topology, ranks_per_node)
    )
    with as_unexpected_error():
        return plugin, program_of(plugin, job)


def job_of(ranks: int | None, topology: str | Topology | None, ranks_per_node: int) -> Job:
    """Return a job of that many ranks, or of as many as fit on the network.

    With a network, ranks are on its terminals in order, `ranks_per_node` on each.

    Raises
    ------
    InputError
        If a number is out of range or missing, or the network does not exist or is too small.
    """
    # 1. All mistakes in the numbers. Without `ranks`, 1 stands for a number without a mistake.
    numbers = (
        ("ranks", 1 if ranks is None else ranks, MAX_RANKS),
        ("ranks_per_node", ranks_per_node, MAX_RANKS_PER_NODE),
    )
    problems = [
        f"`{name}` must be 1 or more, got {value}" for name, value, _ in numbers if value < 1
    ]
    problems += [
        f"`{name}` is {value}, the limit is {limit}"
        for name, value, limit in numbers
        if value > limit
    ]
    if ranks is None and topology is None:
        problems.append(
            "the number of ranks is missing; give `ranks`, or a network with `topology`"
        )
    if problems:
        raise InputError("\n".join(problems))
    # 2. The job, with the placement of its ranks if there is a network.
    if topology is None:
        assert ranks is not None  # checked above
        return Job(ranks)
    _, network = load_network(topology)
    num_ranks = network.num_terminals * ranks_per_node if ranks is None else ranks
    return Job.placed(rank_terminals(BLOCK, num_ranks, network, ranks_per_node), network)


def program_of(workload: WorkloadPlugin, job: Job) -> Program:
    """Return the program that a plugin makes for a job; check its type and number of ranks.

    Raises
    ------
    UnsupportedError
        If the plugin does not support the job.
    PluginError
        If the plugin returns no `Program`, or one for another number of ranks.
    """
    require_support(workload.name, workload.supports(job))
    program = workload.program(job)
    if not isinstance(program, Program):
        raise PluginError(f"{workload.name}: expected a Program, found {type(program).__name__}")
    if program.ranks != job.ranks:
        raise PluginError(
            f"{workload.name}: made a program of {program.ranks} ranks for a job of {job.ranks}"
        )
    return program

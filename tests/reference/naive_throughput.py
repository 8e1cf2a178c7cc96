"""Throughput of any routing, in plain Python: all simple paths of all pairs of terminals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from routelab.api import Demand, Topology
from routelab.metrics.bounds.solver import LinearProgram, solve_program


def simple_paths(topology: Topology, start: int, end: int) -> list[tuple[int, ...]]:
    """List all paths between two switches that visit no switch twice, as channels."""
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    paths = []

    def walk(at: int, seen: frozenset[int], path: tuple[int, ...]) -> None:
        if at == end:
            paths.append(path)
            return
        for channel, (a, b) in enumerate(ends):
            if a == at and b not in seen:
                walk(b, seen | {b}, (*path, channel))

    walk(start, frozenset([start]), ())
    return paths


def pairs_of(topology: Topology, demand: Demand) -> dict[tuple[int, int], float]:
    """Return the demand of every pair of terminals that have a path."""
    matrix, at = demand.between_terminals(), topology.terminal_switch.tolist()
    count = range(len(at))
    return {
        (t, u): float(matrix[t, u])
        for t in count
        for u in count
        if matrix[t, u] > 0 and simple_paths(topology, at[t], at[u])
    }


def throughput(topology: Topology, demand: Demand, load: float | None) -> float:
    """Solve the program over paths: the sustained load, or the flow accepted at a load."""
    at = topology.terminal_switch.tolist()
    fastest = float(topology.channel_capacity.max(initial=1.0))
    limits = [float(speed) / fastest for speed in topology.channel_capacity] + [1.0] * 2 * len(at)
    program = LinearProgram()
    rows = program.add_rows([float("-inf")] * len(limits), limits)
    scale = program.add_variables(1, cost=-1.0 if load is None else 0.0)
    first = topology.num_channels
    for (t, u), amount in pairs_of(topology, demand).items():
        paths = simple_paths(topology, at[t], at[u])
        flows = program.add_variables(len(paths), cost=0.0 if load is None else -1.0)
        for flow, path in zip(flows, paths, strict=True):
            used = rows[[*path, first + t, first + len(at) + u]]
            program.add_entries(used, [flow] * len(used), 1.0)
        most = 0.0 if load is None else load * amount
        served = program.add_rows([0.0 if load is None else float("-inf")], [most])
        program.add_entries([served[0]] * len(paths), flows, 1.0)
        if load is None:
            program.add_entries(served, scale, -amount)
    optimum = solve_program(program, 60)
    assert optimum is not None
    return -optimum[0]


def lightest(topology: Topology, weights: Sequence[int], start: int, end: int) -> int | None:
    """Return the weight of the lightest path, by repeated relaxation; None without a path."""
    cost: dict[int, int] = {start: 0}
    for _ in range(topology.num_switches):
        for channel, weight in enumerate(weights):
            a, b = int(topology.channel_source[channel]), int(topology.channel_target[channel])
            if a in cost and cost[a] + weight < cost.get(b, cost[a] + weight + 1):
                cost[b] = cost[a] + weight
    return cost.get(end)


def proven(
    topology: Topology,
    demands: Mapping[tuple[int, int], Fraction],
    weights: Sequence[int],
    ends: tuple[Sequence[int], Sequence[int]],
    unit: int,
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the sums of a certificate: capacity, demand and missing weight of all pairs."""
    at = topology.terminal_switch.tolist()
    capacity = [Fraction(float(speed)) for speed in topology.channel_capacity]
    carried = sum(
        (c / max(capacity) * w for c, w in zip(capacity, weights, strict=True)), Fraction(0)
    )
    carried += sum(ends[0]) + sum(ends[1])
    weighed = missing = Fraction(0)
    for (t, u), amount in demands.items():
        between = lightest(topology, weights, at[t], at[u])
        if between is not None:
            weight = ends[0][t] + between + ends[1][u]
            weighed += amount * weight
            missing += amount * max(0, unit - weight)
    return carried, weighed, missing

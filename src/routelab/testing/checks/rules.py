"""Checks of rules."""

from __future__ import annotations

from routelab.api import RoutingGraph
from routelab.kernels.graph import route_lengths
from routelab.testing.bare_network import require_minimal, require_routes
from routelab.testing.checks.claims import require_proof
from routelab.testing.legal_routes import shortest_legal_routes, turn_routes
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial
from routelab.toolkit import determinized


def begins(trial: Trial) -> str:
    """Check that a packet to a terminal of the same switch may stop where it begins."""
    graph: RoutingGraph = trial.result
    ends = graph.topology.endpoints
    refused = ends[~graph.accepting[graph.begin[ends]]]
    if refused.size:
        name = graph.topology.switch_names[refused[0]]
        raise Failed(f"the begin vertex of switch {name} is not accepting")
    return ""


def reachable(trial: Trial) -> str:
    """Check that every pair has a legal route on undamaged connected networks, links both ways.

    On other networks, count the pairs without a legal route.
    """
    graph: RoutingGraph = trial.result
    lengths = route_lengths(graph.arrays, graph.topology.endpoints)
    return require_routes(graph.topology, lengths < 0, "legal route")


def minimal(trial: Trial) -> str:
    """Check, if claimed, that legal routes are as short as the bare network allows."""
    graph: RoutingGraph = trial.result
    if not trial.subject.capabilities.minimal:
        raise Skipped("no claim to be minimal")
    lengths = route_lengths(graph.arrays, graph.topology.endpoints)
    return require_minimal(graph.topology, lengths)


def deadlock_free(trial: Trial) -> str:
    """Check that all legal routes together are deadlock-free under the claimed flow control."""
    graph: RoutingGraph = trial.result
    claim = trial.subject.capabilities.flow_control
    if claim is None:
        raise Skipped("no claim to be free of deadlock")
    # These rules forbid longer routes, so only the turns of shortest routes count. They are listed
    # route by route, which needs a deterministic graph; the turns of all routes do not.
    if graph.minimal_only:
        require_proof(
            shortest_legal_routes(determinized(graph), claim), "all shortest legal routes"
        )
        return f"{claim}, all shortest legal routes"
    require_proof(turn_routes(graph, claim), "all legal routes")
    return f"{claim}, all legal routes"

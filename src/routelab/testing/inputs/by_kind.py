"""The inputs of each kind of plugin, by name; they are built on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from routelab.api import Job, RouteTable, RoutingGraph, Topology
from routelab.registry.catalogue import Catalogue
from routelab.registry.instances import load
from routelab.testing.inputs.examples import complete_name, name_parts
from routelab.testing.inputs.graphs import GRAPHS, all_walks
from routelab.testing.inputs.jobs import JOBS, job_on
from routelab.testing.inputs.networks import NETWORKS, SEVERAL_TERMINALS, WITH_TERMINALS
from routelab.testing.inputs.tables import TABLES, table_on
from routelab.testing.result_form import check_form
from routelab.testing.results import Skipped
from routelab.toolkit import determinized

Makers = Mapping[str, Callable[[], Any]]

WITH_ALL_GRAPHS = ("two-components", "one-way-ring", "petersen", "torus")
"""Networks on which selections run with all rules of the kit; elsewhere every walk is legal."""
WITH_INSTALLED_RULES = ("failed-torus", "torus")
"""Networks on which selections run with the installed rules."""
WITHOUT_RULES = ("one-switch", "torus", "torus+multipath")
"""Tables that metrics also measure without rules, like tables of complete algorithms."""


def inputs(kind: str, text: str, topologies: Sequence[str], catalogue: Catalogue) -> Makers:
    """Return the inputs for a plugin of `kind` by name, from tiny to small.

    The value of a name is a function that makes the input when a check needs it.

    Parameters
    ----------
    kind : str
    text : str
        The plugin's name; the input of a topology is its own name.
    topologies : sequence of str
        Instances of installed topologies to add.
    catalogue : Catalogue
        Catalogue of rules and topologies.
    """
    if kind == "topology":
        return {text: lambda: None}  # it is built from its parameters alone
    if kind in ("engine", "export", "benchmark"):
        return {}  # their authors test what they start or write
    added_networks = {name: _installed_topology(name, catalogue) for name in topologies}
    if kind == "workload":
        return {**JOBS, **{name: _job_on(network) for name, network in added_networks.items()}}
    if kind == "traffic":
        return {**NETWORKS, **WITH_TERMINALS, **added_networks}
    networks = {**NETWORKS, **added_networks}
    if kind == "routing":
        families = _networks_of_families(text, catalogue)
        return {**NETWORKS, **SEVERAL_TERMINALS, **families, **added_networks}
    if kind == "rules":
        return networks
    if kind == "selection":
        return dict(_inputs_of_selections(networks, topologies, catalogue))
    tables = {**TABLES, **{name: _table_on(network) for name, network in added_networks.items()}}
    return tables if kind == "layers" else dict(_inputs_of_metrics(tables))


def _networks_of_families(text: str, catalogue: Catalogue) -> Makers:
    """Return networks of the families that a routing claims, if the kit has none of them.

    They are the installed topologies of these names, with example values where a parameter has no
    default. A family is left out if no value of such a parameter can be guessed.
    """
    kit_families = {make().family for make in NETWORKS.values()}
    makers: dict[str, Callable[[], Any]] = {}
    for kind, part in name_parts("routing", text):
        claims = {
            family
            for entry in catalogue.entries(kind, part.key)
            if entry.plugin is not None and entry.status == "ok"
            for family in entry.plugin.capabilities.families
        }
        for family in sorted((claims - kit_families) & set(catalogue.keys("topology"))):
            with suppress(Skipped):
                name = complete_name("topology", family, catalogue)
                makers[name] = _installed_topology(name, catalogue)
    return makers


def _installed_topology(name: str, catalogue: Catalogue) -> Callable[[], Topology]:
    return lambda: load("topology", name, catalogue).build()


def _job_on(network: Callable[[], Topology]) -> Callable[[], Job]:
    return lambda: job_on(network())


def _table_on(network: Callable[[], Topology]) -> Callable[[], RouteTable]:
    return lambda: table_on(network())


def _inputs_of_selections(
    networks: Mapping[str, Callable[[], Topology]], topologies: Sequence[str], catalogue: Catalogue
) -> Iterator[tuple[str, Callable[[], RoutingGraph]]]:
    """Yield names and makers of routing graphs.

    ``torus+even`` is a graph of the kit's rules `even`, and ``torus@up-down`` one of the installed
    rules `up-down`. On most networks there is only the graph in which every walk is legal.
    """
    for name, network in networks.items():
        for rules, routing_graph in GRAPHS.items():
            if rules == "walks" or name in WITH_ALL_GRAPHS:
                yield f"{name}+{rules}", _deterministic_graph_on(network, routing_graph)
        if name in WITH_INSTALLED_RULES or name in topologies:
            for key in catalogue.keys("rules"):
                yield (
                    f"{name}@{key}",
                    _deterministic_graph_on(network, _rules_on_network(key, catalogue)),
                )


def _deterministic_graph_on(
    network: Callable[[], Topology], routing_graph: Callable[[Topology], RoutingGraph]
) -> Callable[[], RoutingGraph]:
    # selections require deterministic graphs
    return lambda: determinized(routing_graph(network()))


def _rules_on_network(key: str, catalogue: Catalogue) -> Callable[[Topology], RoutingGraph]:
    """Return a function that makes the rules' routing graph of a network.

    It raises `Skipped` for a network that the rules do not support.
    """

    def routing_graph(topology: Topology) -> RoutingGraph:
        rules: Any = load("rules", key, catalogue)
        reason = rules.supports(topology)
        if reason is not None:
            raise Skipped(f"{key}: {reason}")
        graph: RoutingGraph = rules.routing_graph(topology)
        check_form("rules", topology, graph)
        return graph

    return routing_graph


def _inputs_of_metrics(
    tables: Mapping[str, Callable[[], RouteTable]],
) -> Iterator[tuple[str, Callable[[], tuple[RouteTable, RoutingGraph | None]]]]:
    """Yield names and makers of the inputs of metrics: a table, and its rules' graph or None.

    All routes of the kit's tables are legal under the rules that allow every walk.
    """
    for name, make in tables.items():
        if name in WITHOUT_RULES:
            yield f"{name}+no-rules", _table_and_graph(make, with_rules=False)
        yield name, _table_and_graph(make, with_rules=True)


def _table_and_graph(
    make: Callable[[], RouteTable], *, with_rules: bool
) -> Callable[[], tuple[RouteTable, RoutingGraph | None]]:
    """Return a function that makes the input of a metric; `make` makes the table."""

    def make_input() -> tuple[RouteTable, RoutingGraph | None]:
        table = make()
        return table, all_walks(table.topology) if with_rules else None

    return make_input

"""Random networks of switches with hosts, and routes on them, for lists as a person writes them."""

from __future__ import annotations

import networkx as nx

from routelab.api import Topology


def random_network(draw):
    """A network of switches with one or two hosts each, and its routes."""
    graph = nx.gnm_random_graph(draw.randint(3, 6), draw.randint(3, 10), seed=draw.randint(0, 9999))
    graph.remove_nodes_from([node for node in graph if not graph[node]])
    name = draw.choice(["s{}", "Sw {}", "n,{}", 'q"{}', "µ{}", "#{}", "row:{}", "=a{}"])
    switches = {node: name.format("abcdef"[node]) for node in graph}
    at = {}
    for node in graph:
        for number in range(draw.choice([1, 2])):
            at[f"h{node}-{number}"] = switches[node]
    return graph, switches, at


def random_routes(draw, graph, switches, at, *, with_hosts):
    routes = []
    while len(routes) < draw.randint(1, 14):
        node = draw.choice(sorted(graph))
        source, hops, vc = node, [], 0
        for _ in range(draw.randint(1, 3)):
            node = draw.choice(sorted(graph[node]))
            vc += draw.random() < 0.2
            hops.append(f"{switches[node]}@{vc}" if vc else switches[node])
        if node == source:
            continue
        ends = []
        for end in (source, node):
            hosts = sorted(h for h in at if at[h] == switches[end])
            # hosts that are alone at a switch are the switch, which the naive reader does not know
            is_host = with_hosts and len(hosts) > 1 and draw.random() < 0.5
            ends.append(draw.choice(hosts) if is_host else switches[end])
        routes.append((*ends, hops))
    return routes


def linked(graph, switches, at):
    links = [*graph.edges, *((b, a) for a, b in graph.edges)]
    number = {node: n for n, node in enumerate(graph)}
    return Topology.create(
        num_switches=len(graph),
        switch_names=[switches[node] for node in graph],
        channel_source=[number[a] for a, _ in links],
        channel_target=[number[b] for _, b in links],
        terminal_switch=[list(switches.values()).index(switch) for switch in at.values()],
        terminal_names=list(at),
    )

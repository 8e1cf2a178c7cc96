"""Rules that prohibit turns: no cycle, a route for every pair, and their own definitions."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_segments import (
    greedy_segments,
    naive_turn_prohibition,
    shortest_segment,
    simple_graph,
)
from turn_networks import assert_acyclic_and_connected, legal_turns, network_of, networks

from routelab.api import InputError, RoutingGraph, Topology
from routelab.deadlock import check_table
from routelab.toolkit import ListedRoutes, build_grid
from routelab.toolkit.irregular import neighbours_of, turn_graph
from routelab.toolkit.irregular.subnets import subnets_of
from routelab.toolkit.reductions import determinized
from routelab_plugins.rules.fx import Fx
from routelab_plugins.rules.l_turn import LTurn
from routelab_plugins.rules.segment import SegmentRules
from routelab_plugins.rules.segment.search import find_segments
from routelab_plugins.rules.tree_turn import TreeTurn
from routelab_plugins.rules.turn_prohibition import TurnProhibition, prohibited_turns
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.bfs import Bfs


def all_rules() -> list:
    return [
        SegmentRules(),
        SegmentRules(order="greedy", restrict="first", root="index"),
        SegmentRules(restrict="end", root="max-degree"),
        SegmentRules(order="greedy", restrict="local-search", root="best"),
        Fx(),
        Fx(breaks="together"),
        TurnProhibition(),
        LTurn(),
        LTurn(tree="even", root="best"),
        TreeTurn(),
        TreeTurn(tree="first", root="index"),
        UpDown(tree="dfs"),
        UpDown(root="best"),
    ]


@settings(max_examples=25, deadline=None)
@given(networks())
def test_no_cycle_and_a_route_for_every_connected_pair(topology: Topology) -> None:
    for rules in all_rules():
        assert_acyclic_and_connected(rules.routing_graph(topology))


@settings(max_examples=40, deadline=None)
@given(networks(), st.sampled_from(["shortest", "greedy"]))
def test_laws_of_segments(topology: Topology, order: str) -> None:
    links = simple_graph(topology)
    facts = SegmentRules(order=order).routing_graph(topology).facts
    parts = nx.number_connected_components(links)
    assert facts["segments"] == links.number_of_edges() - topology.num_switches + parts
    assert (facts["restrictions"] == facts["segments"]) == (facts["unitary_segments"] == 0)
    lines = [line for line in str(facts["segment_list"]).splitlines() if line]
    assert len(lines) == facts["segments"]
    assert sum(" unitary: " in line for line in lines) == facts["unitary_segments"]
    if links.number_of_edges():
        once = network_of(topology.num_switches, list(links.edges))
        assert SegmentRules(order=order).routing_graph(once).facts == facts


@settings(max_examples=40, deadline=None)
@given(networks(), st.integers(0, 8))
def test_segments_are_those_of_figure_2_or_the_shortest(topology: Topology, root: int) -> None:
    root %= topology.num_switches
    links, neighbours = simple_graph(topology), neighbours_of(topology)
    subnets = subnets_of(neighbours, [root, *range(topology.num_switches)])
    bridges = set(map(frozenset, nx.bridges(links)))
    inside = nx.Graph(links)
    inside.remove_edges_from(map(tuple, bridges))
    assert {s.switches for s in subnets} == set(map(frozenset, nx.connected_components(inside)))
    greedy = find_segments(subnets, neighbours, "greedy")
    assert [segment.switches for segment in greedy] == [
        path for subnet in subnets for path in greedy_segments(inside, subnet.start)
    ]
    shortest = find_segments(subnets, neighbours, "shortest")
    for subnet in subnets:
        visited, used = {subnet.start}, set()
        for segment in shortest:
            if segment.start == subnet.start:
                assert len(segment.switches) - 1 == shortest_segment(
                    inside.subgraph(subnet.switches), visited, used
                )
                visited |= set(segment.switches)
                used |= set(map(frozenset, segment.links))
    assert {frozenset(pair) for s in shortest for pair in s.links} == set(
        map(frozenset, inside.edges)
    )
    # the start of a subnet is where the bridge on the way to the root ends
    for subnet in subnets:
        ways = nx.shortest_path(links, root) if subnet.start in nx.descendants(links, root) else {}
        if root not in subnet.switches and ways:
            assert ways[subnet.start][-2] not in subnet.switches


def test_a_packet_never_turns_into_a_twin_of_its_cable() -> None:
    topology = network_of(3, [(0, 1), (0, 1), (1, 2), (2, 0)])
    for rules in all_rules()[:-2]:
        turns = legal_turns(rules.routing_graph(topology))
        source, target = topology.channel_source, topology.channel_target
        assert all(source[before] != target[after] for before, after in turns.edges)
        assert len({int(source[c]) * 3 + int(target[c]) for c in turns}) == 6


def test_restrictions_are_where_the_parameter_says() -> None:
    ring = network_of(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    for where, turn in (("first", "0-1-2"), ("middle", "1-2-3"), ("end", "3-4-0")):
        graph = SegmentRules(restrict=where, root="index").routing_graph(ring)
        assert graph.facts["segment_list"] == f"1 starting: 0 1 2 3 4 0; prohibited {turn}"
        assert graph.facts["prohibited_turns"] == 2
        assert graph.facts["prohibited_share"] == pytest.approx(2 / 10)
        assert graph.channel_facts["segment"].tolist() == [1] * 10


@pytest.mark.parametrize("seed", range(3))
def test_meshes_with_failed_links_have_no_unitary_segment(seed: int) -> None:
    mesh = build_grid("mesh", (8, 8), wrap=False, fail_links=6, seed=seed)
    facts = SegmentRules().routing_graph(mesh).facts
    # Table 1 of the paper: 43 segments and restrictions for 106 links
    assert (facts["segments"], facts["restrictions"], facts["unitary_segments"]) == (43, 43, 0)
    proof = check_table(Bfs().select(SegmentRules().routing_graph(mesh)), "plain")
    assert proof.proven


def test_local_search_and_the_best_root_even_out_the_loads() -> None:
    mesh = build_grid("mesh", (5, 5), wrap=False, fail_links=3, seed=1)

    def unevenness(**options) -> float:
        graph = SegmentRules(**options).routing_graph(mesh)
        # all shortest legal routes of each pair, with equal shares
        listed = ListedRoutes.of(determinized(graph))
        shares = 1 / np.diff(listed.route_start)[listed.route_pair]
        loads = np.bincount(listed.hops, np.repeat(shares, np.diff(listed.hop_start)))
        return float((loads**2).sum())

    plain, searched = unevenness(), unevenness(restrict="local-search")
    assert searched < plain
    roots = [unevenness(root=name) for name in mesh.switch_names[:25:6]]
    assert unevenness(root="best") <= min(plain, *roots) + 1e-6


@settings(max_examples=60, deadline=None)
@given(networks())
def test_turn_prohibition_is_its_definition(topology: Topology) -> None:
    turns = prohibited_turns(neighbours_of(topology))
    assert len(turns) == len(set(turns))
    assert set(turns) == naive_turn_prohibition(simple_graph(topology))


def test_turn_prohibition_takes_at_most_a_third_of_the_turns_of_all_small_networks() -> None:
    # the bound that the paper's abstract states, on every network of up to seven switches
    reached = 0
    for graph in nx.graph_atlas_g()[1:]:
        turns = sum(degree * (degree - 1) for _, degree in graph.degree)
        prohibited = len(prohibited_turns([sorted(graph[switch]) for switch in graph]))
        assert 3 * prohibited <= turns
        reached += bool(turns) and 3 * prohibited == turns
    # a triangle and all larger complete graphs among them
    assert reached >= 5


def test_fx_moves_one_direction_to_the_upper_end() -> None:
    # tree 0-1-2-3, and a link from 3 to 0: both directions break at 3, or one of them at 0
    ring = network_of(4, [(0, 1), (1, 2), (2, 3), (3, 0)])

    def prohibited(breaks: str) -> set[tuple[int, int, int]]:
        turns = legal_turns(Fx(root="index", breaks=breaks).routing_graph(ring))
        ends = list(zip(ring.channel_source.tolist(), ring.channel_target.tolist(), strict=True))
        legal = {(*ends[a], ends[b][1]) for a, b in turns.edges}
        every = {(a, b, c) for a, b in ends for d, c in ends if d == b and a != c}
        return every - legal

    assert prohibited("together") == {(0, 3, 2), (2, 3, 0)}
    assert prohibited("apart") == {(0, 3, 2), (3, 0, 1)}


@settings(max_examples=30, deadline=None)
@given(networks())
def test_fx_changes_a_link_if_and_only_if_no_cycle_closes(topology: Topology) -> None:
    links = simple_graph(topology)
    # the tree as networkx finds it: neighbours in ascending order, a tree for each part
    ordered = nx.Graph()
    ordered.add_nodes_from(sorted(links))
    ordered.add_edges_from(sorted((a, b) for e in links.edges for a, b in (e, e[::-1])))
    place = {s: i for i, s in enumerate(nx.dfs_preorder_nodes(ordered))}
    tree = nx.dfs_tree(ordered)
    arcs = [(a, b) for e in links.edges for a, b in (e, e[::-1])]
    every = {(a, b, c) for a, b in arcs for c in links[b] if c != a}
    prohibited = {t for t in every if place[t[0]] < place[t[1]] > place[t[2]]}
    for y in sorted(place, key=place.__getitem__, reverse=True):
        above = next(iter(tree.pred[y]), None)
        for u in sorted(links[y], key=place.__getitem__):
            if place[u] > place[y] or u == above:
                continue
            child = next(c for c in tree[u] if y in nx.descendants(tree, c))
            branch = {child, *nx.descendants(tree, child)} - {y}
            changed = prohibited | {(y, u, w) for w in branch & set(links[u])}
            changed -= {(above, y, u)}
            turns = nx.DiGraph(((a, b), (b, c)) for a, b, c in every - changed)
            if nx.is_directed_acyclic_graph(turns):
                prohibited = changed
    graph = Fx(root="index").routing_graph(topology)
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    legal = {(*ends[a], ends[b][1]) for a, b in legal_turns(graph).edges}
    assert every - legal == prohibited


def test_one_way_channels_are_a_reason() -> None:
    lone = Topology.create(num_switches=3, channel_source=[0, 1, 1], channel_target=[1, 0, 2])
    for rules in (SegmentRules(), Fx(), TurnProhibition(), LTurn(), TreeTurn()):
        assert "1>2 has no opposite channel" in str(rules.supports(lone))
        assert rules.supports(build_grid("mesh", (2, 2), wrap=False)) is None
    with pytest.raises(InputError, match="segment: root=zz is not a switch"):
        SegmentRules(root="zz").routing_graph(build_grid("mesh", (2, 2), wrap=False))


def test_facts_of_rules_are_checked() -> None:
    mesh = build_grid("mesh", (2, 2), wrap=False)
    with pytest.raises(InputError, match="fact 'kind' is None, expected a number or a text"):
        turn_graph(mesh, (), turn_set="", facts={"kind": None})
    with pytest.raises(InputError, match=r"part has shape \(3,\), expected one number for each of"):
        turn_graph(mesh, (), turn_set="", channel_facts={"part": [1, 2, 3]})


@pytest.mark.parametrize("merge", [True, False])
def test_a_graph_lists_its_prohibited_turns(merge) -> None:
    mesh = build_grid("mesh", (2, 2), wrap=False)
    turns = [(0, 1, 3), (3, 1, 0)]
    graph = turn_graph(mesh, turns, turn_set="", merge=merge)
    assert graph.prohibited.tolist() == [list(turn) for turn in turns]
    assert determinized(graph).prohibited.tolist() == graph.prohibited.tolist()
    assert RoutingGraph.of_walks(mesh).prohibited.shape == (0, 3)
    with pytest.raises(InputError, match="prohibited turn has a switch that does not exist"):
        turn_graph(mesh, [(0, 1, 4)], turn_set="")

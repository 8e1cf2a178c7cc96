"""L-turn and tree-turn: directions in a tree with coordinates, phases, and released turns."""

from __future__ import annotations

from itertools import permutations, product

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_segments import simple_graph
from turn_networks import legal_turns, network_of, networks

from routelab.api import RoutingGraph, Topology
from routelab.metrics import channel_loads
from routelab.toolkit import build_grid
from routelab.toolkit.irregular import neighbours_of
from routelab.toolkit.irregular.phases import prohibited_after_release
from routelab.toolkit.irregular.trees import CoordinatedTree, coordinated_tree, preorder_from
from routelab_plugins.rules.l_turn import LTurn
from routelab_plugins.rules.tree_turn import TreeTurn
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.balanced import Balanced

Turn = tuple[int, int, int]

PHASES = {
    "l-turn": (("LU", "L"), ("RU", "R", "RD"), ("LD",)),
    "tree-turn": (
        ("LU_tree",),
        ("RD_tree", "LD_cross", "RD_cross", "R_cross"),
        ("LU_cross", "RU_cross", "L_cross"),
    ),
}
"""Directions of each phase."""


def direction(tree: CoordinatedTree, a: int, b: int, of_links: bool) -> str:
    """The direction from a switch to another; with the kind of link if `of_links`."""
    sides = "R" if tree.x[b] > tree.x[a] else "L"
    sides += {-1: "U", 0: "", 1: "D"}[tree.y[b] - tree.y[a]]
    if not of_links:
        return sides
    return sides + ("_tree" if tree.parent[b] == a or tree.parent[a] == b else "_cross")


def phase(rules: str, name: str) -> int:
    return next(number for number, names in enumerate(PHASES[rules]) if name in names)


def every_turn(links: nx.Graph) -> list[Turn]:
    return sorted((a, b, c) for b in links for a, c in permutations(links[b], 2))


def turns_of(legal: set[Turn]) -> nx.DiGraph:
    return nx.DiGraph(((a, b), (b, c)) for a, b, c in legal)


def legal_in(graph: RoutingGraph) -> set[Turn]:
    topology = graph.topology
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    return {(*ends[a], ends[b][1]) for a, b in legal_turns(graph).edges}


@settings(max_examples=60, deadline=None)
@given(networks(), st.sampled_from(["even", "first"]), st.sampled_from([LTurn, TreeTurn]))
def test_turns_are_legal_by_their_directions_or_because_no_cycle_closes(
    topology: Topology, parents: str, kind: type
) -> None:
    rules = kind(root="index", tree=parents)
    links = simple_graph(topology)
    tree = coordinated_tree(neighbours_of(topology), 0, parents)
    of_links = rules.name == "tree-turn"
    legal, backwards = set(), []
    for a, b, c in every_turn(links):
        first, then = direction(tree, a, b, of_links), direction(tree, b, c, of_links)
        if phase(rules.name, first) <= phase(rules.name, then):
            legal.add((a, b, c))
        else:
            backwards.append((a, b, c))
    assert nx.is_directed_acyclic_graph(turns_of(legal))
    for turn in backwards:
        if nx.is_directed_acyclic_graph(turns_of(legal | {turn})):
            legal.add(turn)
    graph = rules.routing_graph(topology)
    assert legal_in(graph) == legal
    assert graph.facts["prohibited_turns"] == len(every_turn(links)) - len(legal)
    assert graph.facts["released_turns"] == len(backwards) - graph.facts["prohibited_turns"]


@settings(max_examples=60, deadline=None)
@given(networks())
def test_the_first_parents_are_those_of_a_breadth_first_search(topology: Topology) -> None:
    links, neighbours = simple_graph(topology), neighbours_of(topology)
    tree = coordinated_tree(neighbours, 0, "first")
    whole = nx.DiGraph()
    whole.add_nodes_from(links)
    roots = [root for root, parent in enumerate(tree.parent) if parent < 0]
    assert roots == [min(part) for part in nx.connected_components(links)]
    for root in roots:
        whole.add_edges_from(nx.bfs_edges(links, root, sort_neighbors=sorted))
    assert {(p, s) for s, p in enumerate(tree.parent) if p >= 0} == set(whole.edges)
    order = [s for root in roots for s in nx.dfs_preorder_nodes(whole, root)]
    assert [tree.x[switch] for switch in order] == list(range(len(order)))
    # other links to the level above lead to the right: the directions are six
    kinds = {direction(tree, a, b, True) for e in links.edges for a, b in (e, e[::-1])}
    assert kinds <= {"LU_tree", "RD_tree", "RU_cross", "LD_cross", "L_cross", "R_cross"}


@settings(max_examples=60, deadline=None)
@given(networks(), st.integers(0, 8))
def test_laws_of_even_trees(topology: Topology, root: int) -> None:
    root %= topology.num_switches
    links, neighbours = simple_graph(topology), neighbours_of(topology)
    tree = coordinated_tree(neighbours, root, "even")
    hops = nx.single_source_shortest_path_length(links, root)
    assert {s: tree.y[s] for s in hops} == dict(hops)
    assert sorted(tree.x) == list(range(topology.num_switches))
    whole = nx.DiGraph((p, s) for s, p in enumerate(tree.parent) if p >= 0)
    whole.add_nodes_from(links)
    for switch, parent in enumerate(tree.parent):
        if parent >= 0:
            assert links.has_edge(switch, parent)
            assert tree.y[parent] == tree.y[switch] - 1
        # preorder: a switch, then all that is below it
        below = {switch, *nx.descendants(whole, switch)}
        first = tree.x[switch]
        assert {tree.x[other] for other in below} == set(range(first, first + len(below)))


def test_even_trees_share_children_out() -> None:
    links = [(0, 1), (0, 2), *((a, b) for a in (1, 2) for b in (3, 4, 5)), (1, 6)]
    neighbours = neighbours_of(network_of(7, links))
    assert coordinated_tree(neighbours, 0, "first").parent == [-1, 0, 0, 1, 1, 1, 1]
    # 6 can only go to 1 and chooses first
    assert coordinated_tree(neighbours, 0, "even").parent == [-1, 0, 0, 2, 1, 2, 1]


@settings(max_examples=60, deadline=None)
@given(networks(), st.randoms(use_true_random=False))
def test_released_turns_close_no_cycle_and_all_others_would(topology: Topology, random) -> None:
    links = simple_graph(topology)
    order = random.sample(range(topology.num_switches), topology.num_switches)
    every = every_turn(links)
    before = {
        (a, b, c) for a, b, c in every if order[a] < order[b] > order[c] or random.random() < 0.3
    }
    after = prohibited_after_release(neighbours_of(topology), before)
    assert after == sorted(set(after) & before)
    legal = set(every) - set(after)
    assert nx.is_directed_acyclic_graph(turns_of(legal))
    for turn in after:
        assert not nx.is_directed_acyclic_graph(turns_of(legal | {turn}))


@settings(max_examples=60, deadline=None)
@given(networks(), st.sampled_from(["bfs", "dfs"]))
def test_up_down_has_nothing_to_release(topology: Topology, kind: str) -> None:
    neighbours = neighbours_of(topology)
    if kind == "bfs":
        level = coordinated_tree(neighbours, 0, "first").y
        order = [(hops, switch) for switch, hops in enumerate(level)]
    else:
        order = [(number,) for number in preorder_from(neighbours, 0)[0]]
    turns = every_turn(simple_graph(topology))
    backwards = [(a, b, c) for a, b, c in turns if order[a] < order[b] > order[c]]
    assert prohibited_after_release(neighbours, backwards) == backwards


def test_a_cycle_that_is_not_prohibited_is_an_error() -> None:
    triangle = neighbours_of(network_of(3, [(0, 1), (1, 2), (2, 0)]))
    assert prohibited_after_release(triangle, [(0, 1, 2), (2, 1, 0)]) == [(0, 1, 2), (2, 1, 0)]
    with pytest.raises(ValueError, match="have a cycle"):
        prohibited_after_release(triangle, [(0, 1, 2)])


@pytest.mark.parametrize("kind", [LTurn, TreeTurn])
def test_no_turn_between_directions_can_be_added(kind: type) -> None:
    # for every pair of directions that is prohibited, a network in which it closes a cycle
    name, of_links = kind.name, kind is TreeTurn
    phases = PHASES[name]
    open_pairs = {
        (first, then)
        for late, firsts in enumerate(phases)
        for first in firsts
        for thens in phases[:late]
        for then in thens
    }
    # a packet from a parent never turns back to it
    open_pairs -= {("RD_tree", "LU_tree")}
    for seed, parents in product(range(120), ("first", "even")):
        links = nx.gnm_random_graph(7, 11, seed)
        tree = coordinated_tree([sorted(links[s]) for s in links], 0, parents)
        pairs: dict[tuple[str, str], set[Turn]] = {}
        for a, b, c in every_turn(links):
            pair = (direction(tree, a, b, of_links), direction(tree, b, c, of_links))
            pairs.setdefault(pair, set()).add((a, b, c))
        legal = set().union(*(t for (f, g), t in pairs.items() if phase(name, f) <= phase(name, g)))
        for pair in open_pairs & set(pairs):
            if not nx.is_directed_acyclic_graph(turns_of(legal | pairs[pair])):
                open_pairs.discard(pair)
    assert open_pairs == set()


def test_maximum_loads_are_in_the_order_of_the_abstracts() -> None:
    # by throughput: L-turn before up*/down*, and Tree-turn before both, as a mean of networks
    means = []
    for rules in (UpDown(), LTurn(), TreeTurn()):
        loads = []
        for seed in range(3):
            mesh = build_grid("mesh", (8, 8), wrap=False, fail_links=6, seed=seed)
            table = Balanced().select(rules.routing_graph(mesh))
            loads.append(channel_loads(table).max())
        means.append(sum(loads) / len(loads))
    up_down, l_turn, tree_turn = means
    assert tree_turn < 0.9 * l_turn < 0.9 * up_down

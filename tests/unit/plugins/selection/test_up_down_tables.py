"""Destination-based up*/down* routes: the rule itself, switch by switch."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_segments import simple_graph, up_down_step
from small_graphs import networks

from routelab.deadlock import check_table
from routelab.toolkit import build_grid
from routelab_plugins.rules.up_down import UpDown
from routelab_plugins.selection.up_down_tables import UpDownTables


@settings(max_examples=60, deadline=None)
@given(networks(), st.sampled_from(["bfs", "dfs"]), st.integers(0, 1))
def test_down_where_there_is_a_way_down_and_otherwise_up(topology, tree, tie_seed) -> None:
    rules = UpDown(tree=tree)
    order = rules.order(topology)
    table = UpDownTables(tie_seed=tie_seed).select(rules.routing_graph(topology))
    hops = table.next_hops()
    assert hops is not None
    assert check_table(table, "plain").proven
    links = simple_graph(topology)
    for j, target in enumerate(topology.endpoints.tolist()):
        steps = up_down_step(links, order, target)
        for switch in topology.endpoints.tolist():
            channel = int(hops[switch, j])
            if switch == target:
                continue
            following = int(topology.channel_target[channel])
            length, down = steps[switch]
            assert (order[following] > order[switch]) == down
            if down:
                assert steps[following] == (length - 1, True)
            else:
                assert steps[following] == (length - 1, False) or (
                    length == 1 and steps[following][1]
                )


def test_equally_short_ways_share_the_load() -> None:
    # from a corner, every switch off the edges is as near over either neighbour
    mesh = build_grid("mesh", (4, 4), wrap=False)
    loads = {}
    for seed in (0, 1):
        graph = UpDown(root="index").routing_graph(mesh)
        hops = UpDownTables(tie_seed=seed).select(graph).next_hops()
        loads[seed] = hops.tolist()
        at_root = hops[0, 5:]
        first, second = ((at_root == c).sum() for c in mesh.outgoing[1][:2])
        assert abs(int(first) - int(second)) <= 3
    assert loads[0] != loads[1]

"""A network that nobody here made: Abilene, from the Internet Topology Zoo."""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from routelab.workflow.evaluate import evaluate_routings

NETWORK = Path(__file__).parents[1] / "data" / "abilene.graphml"


def test_any_network_is_routed_and_proven() -> None:
    dfsssp, sssp, p2 = evaluate_routings(
        f"graph~file={NETWORK}", ["dfsssp", "sssp@up-down", "p2-sssp@up-down"]
    )
    reference = nx.read_graphml(NETWORK)
    lengths = [
        length
        for source, ways in nx.all_pairs_shortest_path_length(reference)
        for target, length in ways.items()
        if source != target
    ]
    assert dfsssp["channels"] == 2 * reference.number_of_edges() == 28
    assert dfsssp["pairs"] == len(lengths) == 110
    assert dfsssp["max_hops"] == max(lengths) == 5
    assert dfsssp["mean_hops"] == sum(lengths) / len(lengths)
    for row in (dfsssp, sssp, p2):
        assert (row["status"], row["deadlock"], row["reachable_pairs"]) == ("ok", "proven", 110)
        assert row["mean_hops"] >= dfsssp["mean_hops"]
    assert sssp["virtual_channels"] == p2["virtual_channels"] == 1

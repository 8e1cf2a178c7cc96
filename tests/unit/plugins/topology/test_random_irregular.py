"""Random irregular networks keep their numbers of links and ports, and are connected."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.registry.instances import load


@given(
    st.integers(2, 20), st.integers(1, 6), st.integers(0, 30), st.integers(1, 4), st.integers(0, 99)
)
def test_networks_have_their_size_and_are_connected(switches, free, more, terminals, seed):
    links = switches - 1 + more
    name = (
        f"random-irregular~switches={switches},ports={free + terminals},links={links},"
        f"terminals={terminals},seed={seed}"
    )
    most = min(switches * (switches - 1) // 2, switches * free // 2)
    if most < links:
        with pytest.raises(InputError, match=r"links|too few"):
            load("topology", name).build()
        return
    try:
        network = load("topology", name).build()
    except InputError as error:
        # the only case that may be impossible: all ports but one in use, without a repeated link
        assert "draws gave no network" in str(error)  # noqa: PT017 - either result is right
        assert switches * free - 2 * links <= 1 or free >= switches - 2
        return
    graph = nx.Graph()
    graph.add_edges_from(
        zip(network.channel_source.tolist(), network.channel_target.tolist(), strict=True)
    )
    assert graph.number_of_edges() == links  # no link twice, none to itself
    assert nx.is_connected(graph)
    assert graph.number_of_nodes() == switches
    assert max(Counter(network.channel_source.tolist()).values()) <= free
    assert network.num_terminals == switches * terminals

"""Networks, graphs and tables cannot be written to, and changes of their memory are found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import RouteTable, RoutingGraph, Topology
from routelab.api.contents import value_checksum
from routelab.api.topology import adopt_array, frozen_array
from routelab.kernels.checksum import checksum

PAIR = Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])


def table(hops: np.ndarray) -> RouteTable:
    return RouteTable.create(
        PAIR, pair_start=[0, 1, 2, 3, 4], path_start=[0, 0, 1, 2, 2], hop_channel=hops
    )


def arrays(value: object) -> dict[str, np.ndarray]:
    return {name: each for name, each in vars(value).items() if isinstance(each, np.ndarray)}


@pytest.mark.parametrize(
    "value",
    [PAIR, RoutingGraph.of_walks(PAIR), table(np.arange(2, dtype=np.int32))],
    ids=["network", "graph", "table"],
)
def test_arrays_cannot_be_made_writable(value):
    by_name = arrays(value)
    assert len(by_name) >= 5
    for array in by_name.values():
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
        with pytest.raises(ValueError, match="WRITEABLE"):
            array[:].flags.writeable = True


def test_derived_arrays_cannot_be_made_writable():
    for array in (PAIR.endpoints, PAIR.demand, *PAIR.outgoing, PAIR.links, PAIR.parity):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_an_array_whose_owner_is_writable_again_is_copied():
    owner = np.arange(5)
    once = adopt_array(owner, np.int64)
    owner.flags.writeable = True
    assert not np.shares_memory(adopt_array(once, np.int64), owner)


def test_a_change_by_the_owner_of_the_memory_is_found():
    hops = np.arange(2, dtype=np.int32)
    routes = table(hops)
    assert routes.changes() == []
    hops.flags.writeable = True
    hops[0] = 1
    assert routes.changes() == ["hop_channel"]
    assert routes.with_vcs([0, 0]).changes() == ["hop_channel"]


def test_a_replaced_field_is_found():
    network = PAIR.without()
    object.__setattr__(network, "switch_names", ("a", "b"))
    object.__setattr__(network, "channel_capacity", frozen_array([1, 2], np.float64))
    assert network.changes() == ["channel_capacity", "switch_names"]


def test_a_change_in_a_long_array_of_a_mapping_is_found():
    """NumPy prints arrays of more than 1,000 numbers without their middle."""
    lengths = np.zeros(5000)
    values = {"length": lengths, "kinds": [["a", "b"], ["c"]]}
    before = value_checksum(values)
    assert value_checksum({"length": np.zeros(5000), "kinds": [["a", "b"], ["c"]]}) == before
    lengths[2500] = 1
    assert value_checksum(values) != before
    lengths[2500] = 0
    values["kinds"][1][0] = "d"
    assert value_checksum(values) != before


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=12), st.data())
def test_every_change_of_a_word_changes_the_checksum(words, data):
    place = data.draw(st.integers(0, len(words) - 1))
    other = data.draw(st.integers(0, 2**64 - 1).filter(lambda word: word != words[place]))
    first, second = np.array(words, np.uint64), np.array(words, np.uint64)
    second[place] = other
    assert checksum(first) != checksum(second)

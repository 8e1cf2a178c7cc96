"""Networks after failures: against grids that are built damaged, and by what must not change."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError, Topology
from routelab.toolkit import build_grid, with_random_failures

ARRAYS = (
    "channel_source",
    "channel_target",
    "terminal_switch",
    "source_port",
    "target_port",
    "channel_direction",
    "channel_ring",
    "channel_latency",
    "channel_capacity",
    "coordinates",
)


def same(topology, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(topology, name), getattr(other, name), name)
    assert topology.num_switches == other.num_switches
    assert topology.switch_names == other.switch_names
    assert topology.directions == other.directions
    assert topology.attributes == other.attributes


@st.composite
def strokes(draw):
    """A whole grid, and switches and links of it to take away."""
    dims = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    whole = build_grid("grid", dims, draw(st.booleans()), terminals=draw(st.integers(1, 2)))
    switches = draw(st.sets(st.integers(0, whole.num_switches - 1), max_size=3))
    if len(switches) == whole.num_switches:
        switches = set()
    links = draw(st.sets(st.integers(0, len(whole.links) - 1), max_size=4))
    return whole, sorted(switches), whole.links[sorted(links)]


@given(strokes())
def test_a_grid_without_parts_is_the_grid_that_is_built_without_them(case):
    whole, switches, links = case
    left = whole.without(switches=switches, channels=links.reshape(-1))
    ends = zip(
        whole.channel_source[links[:, 0]].tolist(),
        whole.channel_target[links[:, 0]].tolist(),
        strict=True,
    )
    built = build_grid(
        "grid",
        whole.attributes["dims"],
        any(whole.attributes["wrap"]),
        terminals=whole.num_terminals // whole.num_switches,
        failed_switches=switches,
        failed_links=[f"{a}-{b}" for a, b in ends],
    )
    same(left, built)
    assert left.failed_switches == built.failed_switches

    def unordered(topology):
        return {frozenset(name.split("-")) for name in topology.failed_links}

    assert unordered(left) == unordered(built)


def test_one_way_of_a_link_may_fail_and_takes_the_ring_of_that_way_along():
    ring = build_grid("torus", (4,), True)
    channel = 0  # from 0 in direction +X
    left = ring.without(channels=[channel])
    assert left.failed_links == ("0>1",)
    assert left.num_channels == 7
    positive = left.channel_direction == 0
    assert set(left.channel_ring[positive]) == {-1}
    assert set(left.channel_ring[~positive]) == {0}


def test_failures_add_up_by_name():
    ring = build_grid("torus", (5,), True)
    left = ring.without(switches=[1]).without(switches=[1], channels=[])
    # the second switch 1 is the one that was called 2
    assert left.failed_switches == ("1", "2")
    assert left.switch_names == ("0", "3", "4")


@st.composite
def multigraphs(draw):
    count = draw(st.integers(2, 5))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    channels = draw(st.lists(ends.filter(lambda pair: pair[0] != pair[1]), max_size=12))
    return Topology.create(
        num_switches=count,
        channel_source=[a for a, _ in channels],
        channel_target=[b for _, b in channels],
    )


@given(multigraphs())
def test_links_pair_every_channel_once_with_a_way_back(topology):
    links = topology.links
    used = links[links >= 0]
    assert sorted(used) == list(range(topology.num_channels))
    assert np.all(links[:, 0] >= 0)
    source, target = topology.channel_source, topology.channel_target
    two_way = links[links[:, 1] >= 0]
    np.testing.assert_array_equal(source[two_way[:, 0]], target[two_way[:, 1]])
    np.testing.assert_array_equal(target[two_way[:, 0]], source[two_way[:, 1]])
    # as many two-way links as there can be
    there = Counter(zip(source.tolist(), target.tolist(), strict=True))
    most = sum(min(there[a, b], there[b, a]) for a, b in there if a < b)
    assert len(two_way) == most


@given(multigraphs(), st.integers(0, 3), st.integers(0, 9))
def test_random_failures_have_the_requested_number_and_are_nested(topology, links, seed):
    links = min(links, len(topology.links))
    lost = [
        Counter(with_random_failures(topology, links=k, seed=seed).failed_links)
        for k in range(links + 1)
    ]
    for fewer, more in pairwise(lost):
        assert fewer <= more
    assert [count.total() for count in lost] == list(range(links + 1))
    switches = [
        set(with_random_failures(topology, switches=k, seed=seed).failed_switches)
        for k in range(topology.num_switches)
    ]
    assert [len(names) for names in switches] == list(range(topology.num_switches))
    assert all(a < b for a, b in pairwise(switches))


def test_links_fail_between_live_switches():
    whole = build_grid("torus", (4, 4), True)
    for seed in range(20):
        left = with_random_failures(whole, switches=3, links=4, seed=seed)
        assert not set(left.failed_switches) & {
            end for link in left.failed_links for end in link.split("-")
        }
        assert left.num_switches == 13


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"switches": [4]}, "there is no switch 4, only 0..3"),
        ({"channels": [8]}, "there is no channel 8, only 0..7"),
        ({"channels": [-2]}, "there is no channel -2"),
        ({"switches": range(4)}, "no switch with a terminal is left; fail fewer"),
    ],
)
def test_parts_that_are_not_there_are_refused(parts, message):
    with pytest.raises(InputError, match=message):
        build_grid("torus", (4,), True).without(**parts)

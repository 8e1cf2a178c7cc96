"""Grids against their definition, and the verification that a network is a whole grid."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_grid import channels, switches

from routelab.api import Direction, InputError, Topology
from routelab.toolkit import Grid, build_grid, full_grid

dimensions = st.lists(st.integers(2, 4), min_size=1, max_size=4).filter(
    lambda dims: np.prod(dims) <= 81
)


def described(topology):
    """Channels as the naive twin gives them, in the order of the arrays."""
    places = [tuple(row) for row in topology.coordinates.tolist()]
    labels = [topology.directions[d] for d in topology.channel_direction]
    return [
        (places[s], places[t], label.dimension, label.sign)
        for s, t, label in zip(
            topology.channel_source, topology.channel_target, labels, strict=True
        )
    ]


@st.composite
def damaged(draw):
    dims, wrap = draw(dimensions), draw(st.booleans())
    places = switches(dims)
    index = {place: i for i, place in enumerate(places)}
    links = [(index[a], index[b]) for a, b, _, _ in channels(dims, wrap)]
    some = st.lists(st.sampled_from(range(len(places))), max_size=3, unique=True)
    failed = draw(some)
    several = st.lists(st.sampled_from(range(len(places))), min_size=2, unique=True)
    nodes = draw(st.one_of(st.just([]), several) if len(places) > 1 else st.just([]))
    left = (set(nodes) or set(range(len(places)))) - set(failed)
    if not left:
        failed = []
    cut = draw(st.lists(st.sampled_from(links), max_size=4, unique_by=frozenset))
    return dims, wrap, failed, cut, nodes


@given(damaged())
def test_the_channels_are_those_of_the_definition(case):
    dims, wrap, failed, cut, nodes = case
    topology = build_grid(
        "grid",
        dims,
        wrap,
        failed_switches=failed,
        failed_links=[f"{a}-{b}" for a, b in cut],
        nodes=nodes,
    )
    expected = channels(dims, wrap, failed_switches=failed, failed_links=cut, nodes=nodes)
    # channel numbers go by switch, then by direction: + before −
    assert described(topology) == expected
    places = switches(dims)
    kept = [i for i in range(len(places)) if i not in failed and (not nodes or i in nodes)]
    assert [tuple(row) for row in topology.coordinates.tolist()] == [places[i] for i in kept]
    assert topology.switch_names == tuple(".".join(map(str, places[i])) for i in kept)
    assert topology.failed_switches == tuple(
        ".".join(map(str, places[i])) for i in sorted(set(failed))
    )
    assert len(topology.failed_links) == len({frozenset(pair) for pair in cut})


@given(damaged())
def test_ports_are_directions_and_agree_with_the_opposite_channel(case):
    dims, wrap, failed, cut, _ = case
    topology = build_grid(
        "grid", dims, wrap, failed_switches=failed, failed_links=[f"{a}-{b}" for a, b in cut]
    )
    count = len(dims)
    assert [label.name for label in topology.directions][:2] == (
        ["+X", "-X"] if count == 1 else ["+X", "+Y"]
    )
    there = {}
    for c in range(topology.num_channels):
        assert topology.source_port[c] == topology.channel_direction[c]
        key = topology.channel_source[c], topology.channel_target[c], topology.source_port[c]
        assert key not in there
        there[key] = c
    for (source, target, _), c in there.items():
        opposite = there[target, source, topology.target_port[c]]
        assert topology.target_port[opposite] == topology.source_port[c]


@given(damaged())
def test_ring_ids_claim_complete_rings_and_miss_none(case):
    dims, wrap, failed, cut, nodes = case
    topology = build_grid(
        "grid",
        dims,
        wrap,
        failed_switches=failed,
        failed_links=[f"{a}-{b}" for a, b in cut],
        nodes=nodes,
    )
    lines = defaultdict(list)
    for c, (place, _, dimension, sign) in enumerate(described(topology)):
        line = (*place[:dimension], None, *place[dimension + 1 :])
        lines[line, dimension, sign].append(c)
    ids = set()
    for (_, dimension, _), members in lines.items():
        claimed = {int(topology.channel_ring[c]) for c in members}
        if wrap and dims[dimension] > 2 and len(members) == dims[dimension]:
            assert len(claimed) == 1
            assert claimed.isdisjoint(ids | {-1})
            ids |= claimed
        else:
            assert claimed == {-1}


def test_desmos_has_160_channels_and_rings_of_4_both_ways():
    # 32 switches: two channels a switch on the ring, one on each of three links
    topology = build_grid("torus", (4, 2, 2, 2), True, terminals=3)
    assert topology.num_channels == 32 * (2 + 3)
    assert np.bincount(topology.channel_ring[topology.channel_ring >= 0]).tolist() == [4] * 16
    assert " ".join(d.name for d in topology.directions) == "+X +Y +Z +K -X -Y -Z -K"
    assert topology.channel_name(0) == "0.0.0.0>1.0.0.0 +X"
    assert topology.terminals_per_switch.tolist() == [3] * 32
    assert dict(topology.attributes) == {"dims": [4, 2, 2, 2], "wrap": [True, False, False, False]}


def test_every_link_can_fail():
    topology = build_grid("torus", (3, 2), True, fail_links=9)
    assert topology.num_channels == 0
    assert topology.num_switches == 6
    with pytest.raises(InputError, match="10 links cannot fail, only 9 are left"):
        build_grid("torus", (3, 2), True, fail_links=10)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"failed_switches": [8]}, r"failed_switches: there is no switch 8, only 0\.\.7"),
        ({"nodes": [0, 99]}, "nodes: there is no switch 99"),
        ({"failed_links": ["0-9"]}, "failed_links: there is no switch 9"),
        ({"failed_links": ["0-3"]}, r"0-3 is not a link, switches 0\.0 and 1\.1 are not neighb"),
        ({"failed_links": ["03"]}, "'03' is not a link; write the indices"),
        ({"fail_switches": 9}, "9 switches cannot fail, only 8 are left"),
        ({"fail_switches": 8}, "no switch is left"),
        ({"dims": (4, 1)}, "must be at least 2, got 4x1"),
        ({"dims": ()}, "at least one dimension"),
        ({"dims": (1000, 1000, 1000)}, "1000000000 switches, the limit is"),
    ],
)
def test_wrong_input_is_rejected(wrong, message):
    with pytest.raises(InputError, match=message):
        build_grid("torus", **({"dims": (4, 2), "wrap": True} | wrong))


@given(dimensions, st.booleans(), st.randoms(use_true_random=False))
def test_full_grid_sees_a_whole_grid_in_any_numbering(dims, wrap, random):
    grid = build_grid("grid", dims, wrap)
    switch, channel = list(range(grid.num_switches)), list(range(grid.num_channels))
    random.shuffle(switch)
    random.shuffle(channel)
    shuffled = Topology.create(
        num_switches=grid.num_switches,
        channel_source=np.array(switch)[grid.channel_source][channel],
        channel_target=np.array(switch)[grid.channel_target][channel],
        channel_direction=grid.channel_direction[channel],
        directions=grid.directions,
        coordinates=grid.coordinates[np.argsort(switch)],
    )
    expected = Grid(tuple(dims), tuple(wrap and size > 2 for size in dims))
    assert full_grid(grid) == full_grid(shuffled) == expected


@given(
    dimensions.filter(lambda dims: np.prod(dims) > 2),
    st.booleans(),
    st.integers(0, 999),
    st.integers(0, 7),
)
def test_full_grid_sees_every_single_change(dims, wrap, where, kind):
    grid = build_grid("grid", dims, wrap)
    c = where % grid.num_channels
    arrays = {
        name: getattr(grid, name).copy()
        for name in ("channel_source", "channel_target", "channel_direction")
    }
    coordinates, directions = grid.coordinates.copy(), list(grid.directions)
    match kind:
        case 0:  # a channel is missing
            arrays = {name: np.delete(array, c) for name, array in arrays.items()}
        case 1:  # a channel is there twice
            arrays = {name: np.append(array, array[c]) for name, array in arrays.items()}
        case 2:  # a channel has another's label
            arrays["channel_direction"][c] = (arrays["channel_direction"][c] + 1) % len(directions)
        case 3:  # a channel has no label
            arrays["channel_direction"][c] = -1
        case 4:  # two switches claim one place
            coordinates[c % grid.num_switches] = coordinates[(c + 1) % grid.num_switches]
        case 5:  # two labels mean the same
            directions[0] = Direction("again", directions[1].dimension, directions[1].sign)
        case 6:  # a channel is there twice, in the place of another one
            for array in arrays.values():
                array[c] = array[(c + 1) % grid.num_channels]
        case 7:  # a channel has a second label for the same direction
            label = directions[arrays["channel_direction"][c]]
            directions.append(Direction("again", label.dimension, label.sign))
            arrays["channel_direction"][c] = len(directions) - 1
    changed = Topology.create(
        num_switches=grid.num_switches,
        coordinates=coordinates,
        directions=directions,
        **arrays,
    )
    assert full_grid(changed) is None


def test_full_grid_accepts_an_allocation_that_is_itself_a_grid():
    # two rows of a 3x4 torus: the first dimension became a line of 2
    part = build_grid("torus", (3, 4), True, nodes=range(8))
    assert full_grid(part) == Grid((2, 4), (False, True))
    # the same two rows elsewhere do not start at 0, so the plain answer is no
    assert full_grid(build_grid("torus", (3, 4), True, nodes=range(4, 12))) is None


def test_full_grid_refuses_swapped_coordinates_and_networks_without_them():
    ring = build_grid("torus", (4,), True)
    swapped = replace(ring, coordinates=ring.coordinates[[1, 0, 2, 3]])
    assert full_grid(swapped) is None
    assert full_grid(replace(ring, coordinates=None)) is None
    assert full_grid(Topology.create(num_switches=0, channel_source=[], channel_target=[])) is None

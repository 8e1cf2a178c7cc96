"""Tori whose rings close with a shift, against a twin that walks step by step, and their optima."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import highspy
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.metrics.bounds import lower_bound_topology
from routelab.testing.inputs.graphs import all_walks
from routelab.toolkit import build_grid, full_grid, source_symmetry
from routelab.toolkit.grids import whole_torus

NAMES = "XYZ"


@st.composite
def twisted(draw):
    """Sizes of one to three dimensions, and shifts that do not lead back."""
    dims = draw(st.lists(st.integers(2, 5), min_size=1, max_size=3).map(tuple))
    order = draw(st.permutations(range(len(dims))))
    shifts = {
        (d, e): draw(st.integers(0, dims[e] - 1))
        for place, d in enumerate(order)
        for e in order[place + 1 :]
        if min(dims[d], dims[e]) > 2
    }
    return dims, {pair: shift for pair, shift in shifts.items() if shift}


def build(dims, shifts):
    words = [f"{NAMES[d]}{NAMES[e]}{shift}" for (d, e), shift in shifts.items()]
    return build_grid("torus", dims, wrap=True, twist=words)


def step(place, dims, shifts, d, sign):
    """The switch behind a hop, or None at the end of a line: a dimension of size 2."""
    moved = list(place)
    moved[d] += sign
    if dims[d] == 2 and not 0 <= moved[d] < 2:
        return None
    while any(not 0 <= x < size for x, size in zip(moved, dims, strict=True)):
        for a, size in enumerate(dims):
            turn = (moved[a] >= size) - (moved[a] < 0)
            moved[a] -= turn * size
            for b in range(len(dims)):
                moved[b] += turn * shifts.get((a, b), 0)
    return tuple(moved)


@given(twisted())
def test_hops_and_rings_are_those_of_a_walk(torus):
    dims, shifts = torus
    topology = build(dims, shifts)
    place = [tuple(row) for row in topology.coordinates.tolist()]
    assert place == list(product(*map(range, dims)))
    ways = [(label.dimension, label.sign) for label in topology.directions]
    hops = {
        (place[source], ways[way]): place[target]
        for source, target, way in zip(
            topology.channel_source.tolist(),
            topology.channel_target.tolist(),
            topology.channel_direction.tolist(),
            strict=True,
        )
    }
    expected = {(at, way): step(at, dims, shifts, *way) for at in place for way in ways}
    assert hops == {hop: target for hop, target in expected.items() if target is not None}

    graphs: dict[int, nx.DiGraph] = {}
    for channel, ring in enumerate(topology.channel_ring.tolist()):
        hop = topology.channel_source[channel], topology.channel_target[channel]
        if ring >= 0:
            graphs.setdefault(ring, nx.DiGraph()).add_edge(*map(int, hop))
    assert all(nx.is_strongly_connected(ring) for ring in graphs.values())
    assert all(degree == 1 for ring in graphs.values() for _, degree in ring.out_degree)
    in_rings = np.isin(topology.channel_direction % len(dims), np.flatnonzero(np.array(dims) > 2))
    assert np.array_equal(topology.channel_ring >= 0, in_rings)


@given(twisted(), st.data())
def test_translations_are_automorphisms_and_form_a_group(torus, data):
    dims, shifts = torus
    topology = build(dims, shifts)
    whole = source_symmetry(all_walks(topology))
    rings = [size if size > 2 else 1 for size in dims]
    assert whole.order == prod(rings)
    steps = [data.draw(st.sampled_from([s for s in (1, 2, 3, n) if n % s == 0])) for n in rings]
    for symmetry in (whole, whole.subgroup(steps)) if whole.order > 1 else ():
        images = []
        for source in range(topology.num_switches):
            switches, channels = symmetry.images(source)
            representative = symmetry.representatives[symmetry.source_class[source]]
            assert switches[representative] == source
            for ends in (topology.channel_source, topology.channel_target):
                assert np.array_equal(switches[ends], ends[channels])
            images.append(tuple(switches.tolist()))
        group = set(images)
        assert len(group) == symmetry.order
        first, second = data.draw(st.tuples(*2 * (st.sampled_from(images),)))
        assert tuple(np.array(first)[list(second)].tolist()) in group


def least_load(topology):
    """The least maximum load of shortest routes, split at will: one program of flows from switches.

    Variables are the flow of each source over each channel that leads away from it, and the load.
    """
    count = topology.num_switches
    hops = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )
    distance = dict(nx.all_pairs_shortest_path_length(nx.DiGraph(hops)))
    program = highspy.Highs()
    program.silent()
    load = program.addVariable(lb=0)
    through = [[] for _ in hops]
    for source in range(count):
        into, out = ([[] for _ in range(count)] for _ in "io")
        for channel, (a, b) in enumerate(hops):
            if distance[source][b] == distance[source][a] + 1:
                flow = program.addVariable(lb=0)
                through[channel].append(flow)
                out[a].append(flow)
                into[b].append(flow)
        for switch in set(range(count)) - {source}:
            program.addConstr(sum(into[switch]) - sum(out[switch]) == 1)
    for flows in through:
        program.addConstr(sum(flows) <= load)
    program.minimize(load)
    return program.getInfo().objective_function_value


@pytest.mark.parametrize(
    ("dims", "twist"),
    [((3, 6), ["XY3"]), ((4, 8), ["XY4"]), ((3, 4), ["XY1"]), ((3, 3, 3), ["XY1"])],
)
def test_the_bound_is_that_of_a_separate_program(dims, twist):
    topology = build_grid("torus", dims, wrap=True, twist=twist)
    expected = least_load(topology)
    assert lower_bound_topology(topology).value == pytest.approx(expected, rel=1e-6)


def test_the_doubly_twisted_torus_of_accelerators_has_shorter_routes():
    """All-to-all over 768 channels: at least 73.33, where the plain torus has 85.33."""
    for words, expected in ((["XZ4", "YZ4"], 73.333), ([], 85.333)):
        topology = build_grid("torus", (4, 4, 8), wrap=True, twist=words)
        graph = nx.Graph(list(zip(topology.channel_source, topology.channel_target, strict=True)))
        mean = nx.average_shortest_path_length(graph)
        assert mean * 128 * 127 / 768 == pytest.approx(expected, abs=1e-3)


def test_failed_links_of_a_twisted_torus_are_those_across_the_shift():
    whole = build_grid("torus", (4, 4, 8), wrap=True, twist=["XZ4"])
    # behind 3.0.0 along X comes 0.0.4
    part = build_grid("torus", (4, 4, 8), wrap=True, twist=["XZ4"], failed_links=["96-4"])
    assert part.num_channels == whole.num_channels - 2
    assert part.failed_links == ("3.0.0-0.0.4",)
    # the ring of that link is no ring any more, in both directions
    assert np.count_nonzero(part.channel_ring < 0) == 2 * 7


def test_routings_for_plain_tori_do_not_take_a_twisted_one():
    assert full_grid(build_grid("torus", (4, 8), wrap=True, twist=["XY4"])) is None


@pytest.mark.parametrize("twist", [[[0, 1], [3, 0]], [[-1, 0], [0, 0]], [[2**70]], "XY1", [[0.5]]])
def test_a_declared_shift_that_leads_back_is_none(twist):
    """The walk behind a closing would not end."""
    plain = build_grid("torus", (3, 3), wrap=True)
    declared = replace(plain, attributes={**plain.attributes, "twist": twist})
    assert whole_torus(declared) == full_grid(plain)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["XY"], "'XY' is not a shift"),
        (["XX1"], "'XX1' is not a shift"),
        (["XK1"], "'XK1' is not a shift"),
        (["XY4"], "the shift must be from 1 to 3"),
        (["XY0"], "the shift must be from 1 to 3"),
        (["XZ1"], "a dimension of size 2 is a single link"),
        (["XY1", "XY2"], "X is shifted along Y twice"),
        (["XY1", "YX1"], "must not lead back"),
    ],
)
def test_wrong_shifts_are_refused(words, said):
    with pytest.raises(InputError, match=said):
        build_grid("torus", (4, 4, 2), wrap=True, twist=words)

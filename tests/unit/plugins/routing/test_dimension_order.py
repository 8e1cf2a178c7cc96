"""Dimension order hop by hop: route for route the table, the naive twin, and its classes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from grid_walks import GridWalks, agrees
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_grid_routing import dateline, dimension_order, distance, drawn_orders

from routelab.api import InputError, UnsupportedError
from routelab.registry.instances import load_routing
from routelab.routing.routing import Routing
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid

ORDERS = ["natural", "reversed", "longest", "shortest", "1+0+2"]


@pytest.mark.parametrize("order", ORDERS)
def test_routes_are_those_of_the_table(order) -> None:
    # longest and shortest tell the dimensions apart; 4 and 6 have ties
    walks = GridWalks(f"dimension-order~order={order}", (4, 6, 3), 1)
    table = Routing.from_name(f"dor~order={order}").table(walks.topology)
    random = np.random.default_rng(1)
    for source, target in random.integers(0, walks.topology.num_switches, (400, 2)).tolist():
        walk = walks.walker.walk(source, target)
        assert [walk.channels] == table.paths(source, target)


@settings(max_examples=25)
@given(
    dims=st.lists(st.integers(2, 6), min_size=1, max_size=4).map(tuple),
    wrap=st.booleans(),
    order=st.sampled_from(["natural", "reversed"]),
    data=st.data(),
)
def test_routes_and_classes_are_those_of_the_naive_twin(dims, wrap, order, data) -> None:
    walks = GridWalks(f"dimension-order~deadlock=dateline,order={order}", dims, 2, wrap)
    sequence = range(len(dims))[:: -1 if order == "reversed" else 1]
    place = st.tuples(*(st.integers(0, size - 1) for size in dims))
    for _ in range(10):
        source, target = data.draw(place), data.draw(place)
        walk = walks.walk(source, target)
        hops = dimension_order(source, target, dims, walks.wrap, sequence)
        assert walk.arrived
        assert walks.hops_of(walk) == tuple(hops)
        assert len(hops) == distance(source, target, dims, walks.wrap)
        classes = dateline(hops, dims, walks.wrap) if any(walks.wrap) else [0] * len(hops)
        assert [hop.vc for hop in walk.hops] == classes


@pytest.mark.parametrize(("order", "count"), [("rotated", 3), ("random", 6)])
def test_every_drawn_order_has_its_classes(order, count) -> None:
    walks = GridWalks(f"dimension-order~order={order}", (3, 3, 3), count)
    assert walks.program.vc_classes == count
    assert walks.program.bubble == tuple(range(count))
    source, target = (0, 0, 0), (1, 2, 1)
    orders = drawn_orders(order, 3)
    seen: Counter[int] = Counter()
    for _ in range(1500):
        walk = walks.walk(source, target)
        (vc,) = {hop.vc for hop in walk.hops}
        way = dimension_order(source, target, walks.dims, walks.wrap, orders[vc])
        assert walks.hops_of(walk) == tuple(way)
        seen[vc] += 1
    agrees(seen, {vc: Fraction(1, count) for vc in range(count)})


def test_balanced_ties_use_both_ways_alike_and_positive_ones_do_not() -> None:
    for ties, down in (("balanced", 32), ("positive", 0)):
        walks = GridWalks(f"dimension-order~ties={ties}", (8,), 1)
        halves = [walks.hops_of(walks.walk((s,), ((s + 4) % 8,))) for s in range(8)]
        assert sum(sign < 0 for way in halves for _, _, sign in way) == down / 2
    walks = GridWalks("dimension-order~ties=random", (8,), 1)
    seen = Counter(walks.hops_of(walks.walk((0,), (4,)))[0][2] for _ in range(2000))
    agrees(seen, {1: Fraction(1, 2), -1: Fraction(1, 2)})


def test_unsupported_networks_have_a_reason() -> None:
    torus = build_grid("torus", (4, 4, 4), wrap=True)
    reasons = {
        ("dimension-order~order=random", 5): "needs 6 virtual channels (1 x 6 orders",
        ("dimension-order~deadlock=dateline", 1): "needs 2 virtual channels",
        ("dimension-order~order=1+0", 1): "order=1+0 lists 2 dimensions, but the network has 3",
    }
    for (text, vcs), reason in reasons.items():
        assert reason in Routing.from_name(text).supports(torus, vcs)
    broken = build_grid("torus", (4, 4), wrap=True, failed_links=["0-1"])
    with pytest.raises(UnsupportedError, match="dimension-order: needs a whole torus or mesh"):
        Routing.from_name("dimension-order").prepare(broken, 1)
    with pytest.raises(InputError, match="'up' is not an order"):
        load_routing("dimension-order~order=up")


def test_bubbles_need_rings_that_are_known() -> None:
    torus = build_grid("torus", (4, 4), wrap=True)
    hidden = torus.without(channels=[0])
    assert "whole" in Routing.from_name("dimension-order").supports(hidden, 1)
    fields = ("num_switches", "channel_source", "channel_target", "channel_direction")
    same = type(torus).create(
        **{name: getattr(torus, name) for name in fields},
        directions=torus.directions,
        coordinates=torus.coordinates,
    )
    assert "which channels form rings" in Routing.from_name("dimension-order").supports(same, 1)
    dateline_part = Routing.from_name("dimension-order~deadlock=dateline")
    assert dateline_part.supports(same, 2) is None


def test_switches_may_be_numbered_in_any_order_and_have_several_terminals() -> None:
    torus = build_grid("torus", (4, 5), wrap=True, terminals=3)
    random = np.random.default_rng(5)
    number = random.permutation(20)
    mixed = type(torus).create(
        num_switches=20,
        channel_source=number[torus.channel_source],
        channel_target=number[torus.channel_target],
        channel_direction=torus.channel_direction,
        channel_ring=torus.channel_ring,
        directions=torus.directions,
        coordinates=torus.coordinates[np.argsort(number)],
    )
    for text, vcs in (("dimension-order", 1), ("romm", 2), ("rlb", 2)):
        walker = Walker(Routing.from_name(text).prepare(mixed, vcs), mixed)
        for source, target in random.integers(0, 20, (100, 2)).tolist():
            assert walker.walk(source, target).arrived


def test_tables_grow_with_the_switches_and_not_with_their_square() -> None:
    torus = build_grid("torus", (27, 27, 27), wrap=True)
    program = Routing.from_name("dimension-order").prepare(torus, 1)
    assert len(program.tables) < 30 * torus.num_switches

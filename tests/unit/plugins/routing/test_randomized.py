"""Valiant, ROMM, RLB and GOAL: what they draw is drawn with the published chances."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from grid_walks import GridWalks, agrees
from naive_grid_routing import (
    between_chances,
    dimension_order,
    direction_chances,
    distance,
    drawn_orders,
    minimal_chances,
    rlb_chances,
)

from routelab.routing.routing import Routing
from routelab.toolkit import build_grid


@pytest.mark.parametrize("base", ["dimension-order", "dor"])
def test_valiant_goes_by_way_of_every_switch_alike(base) -> None:
    walks = GridWalks(f"valiant~base={base}", (4, 4), 2)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(4000):
        walk = walks.walk((0, 0), (2, 1))
        between = walks.places[walk.waypoint]
        first = dimension_order((0, 0), between, walks.dims, walks.wrap, (0, 1))
        assert len(walk.hops) == len(first) + distance(between, (2, 1), walks.dims, walks.wrap)
        # each half of the way has its class
        assert [hop.vc for hop in walk.hops] == [0] * len(first) + [1] * (
            len(walk.hops) - len(first)
        )
        seen[between] += 1
    agrees(seen, {place: Fraction(1, 16) for place in walks.places})


def test_valiant_over_a_table_serves_networks_with_failures() -> None:
    torus = build_grid("torus", (4, 4), wrap=True, failed_links=["0-1"])
    part = Routing.from_name("valiant~base=[dfsssp]")
    assert part.supports(torus, 8) is None
    assert "needs a whole torus" in Routing.from_name("valiant").supports(torus, 8)


@pytest.mark.parametrize(
    ("text", "vcs", "reason"),
    [
        ("valiant", 1, "raise vcs to 2"),
        ("valiant~base=[dimension-order~deadlock=dateline]", 3, "base dimension-order~deadlock"),
        ("valiant~base=romm", 8, "makes choices at injection"),
    ],
)
def test_valiant_says_which_bases_do_not_do(text, vcs, reason) -> None:
    torus = build_grid("torus", (4, 4), wrap=True)
    assert reason in Routing.from_name(text).supports(torus, vcs)


@pytest.mark.parametrize("target", [(1, 1), (2, 1), (3, 2), (0, 2), (0, 0)])
def test_romm_draws_from_the_minimal_quadrant(target) -> None:
    walks = GridWalks("romm", (4, 5), 2)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(2500):
        walk = walks.walk((0, 0), target)
        assert walk.arrived
        assert len(walk.hops) == distance((0, 0), target, walks.dims, walks.wrap)
        if target != (0, 0):
            seen[walks.places[walk.waypoint]] += 1
    chances = minimal_chances((0, 0), target, walks.dims, walks.wrap)
    if target != (0, 0):
        agrees(seen, between_chances((0, 0), target, walks.dims, chances))


@pytest.mark.parametrize("text", ["rlb", "rlbth", "goal"])
@pytest.mark.parametrize("target", [(1, 3), (2, 4), (7, 1)])
def test_directions_have_the_published_chances(text, target) -> None:
    walks = GridWalks(text, (8, 8), 3)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(3000):
        signs = [0, 0]
        walk = walks.walk((0, 0), target)
        for _, d, sign in walks.hops_of(walk):
            assert signs[d] in (0, sign), "a packet never turns round"
            signs[d] = sign
        seen[tuple(signs)] += 1
        assert walk.arrived
    local = text == "rlbth"
    chances = direction_chances((0, 0), target, walks.dims, walks.wrap, local)
    if local and target == (1, 3):
        assert set(chances) == {(1, 1), (1, -1)}
    agrees(seen, chances)


@pytest.mark.parametrize(
    ("order", "vcs", "wrap"), [("natural", 4, True), ("random", 8, True), ("rotated", 4, False)]
)
def test_rlb_takes_every_way_as_often_as_the_naive_twin(order, vcs, wrap) -> None:
    walks = GridWalks(f"rlb~order={order},deadlock=dateline", (4, 3), vcs, wrap)
    orders = [(0, 1)] if order == "natural" else drawn_orders(order, 2)
    source, target = (0, 0), (1, 2)
    seen = Counter(walks.hops_of(walks.walk(source, target)) for _ in range(5000))
    agrees(seen, rlb_chances(source, target, walks.dims, walks.wrap, orders, False))


def test_mean_hops_of_goal_and_rlb_are_those_of_their_chances() -> None:
    # 5.25 hops on 8x8 with self-traffic: 2 sum over distances of 2 D (8 - D) / 8, over 8
    for text, expected in (("goal", 5.25), ("rlb", 5.25), ("rlbth", 4.875)):
        walks = GridWalks(text, (8, 8), 3)
        hops = [len(walks.walk((0, 0), target).hops) for target in walks.places * 60]
        assert sum(hops) / len(hops) == pytest.approx(expected, abs=5 * 3.0 / len(hops) ** 0.5)

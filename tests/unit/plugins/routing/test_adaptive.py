"""RDR, minimal-adaptive, GOAL and Angara's adaptive mode: candidates, penalties, escapes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from grid_walks import GridWalks, agrees
from naive_grid_routing import closer, dimension_order, rdr_chances

from routelab.routing.routing import Routing
from routelab.toolkit import build_grid


@pytest.mark.parametrize("target", [(1, 1), (2, 1), (2, 3), (1, 0)])
def test_rdr_draws_from_the_closer_neighbours_alike(target) -> None:
    walks = GridWalks("rdr", (4, 6), 2)
    seen = Counter(walks.hops_of(walks.walk((0, 0), target)) for _ in range(4000))
    agrees(seen, rdr_chances((0, 0), target, walks.dims, walks.wrap))


def test_rdr_draws_once_a_switch_and_escapes_by_dimension_order() -> None:
    walks = GridWalks("rdr", (5, 5), 4)
    order = {}
    for source, target in walks.pairs():
        walk = walks.walk(source, target)
        for offered, hop in zip(walk.offers, walks.hops_of(walk), strict=True):
            adaptive = [candidate for candidate in offered if not candidate.escape]
            assert len({candidate.channel for candidate in adaptive}) == 1
            assert [candidate.vc for candidate in adaptive] == [1]
            (escape,) = (candidate for candidate in offered if candidate.escape)
            assert escape.vc == 0
            if target not in order:
                order[target] = {}
            order[target].setdefault(hop[0], set()).add(escape.channel)
    # without ties the escape depends on place and target only, and leads along dimension order
    for target, channels_at in order.items():
        for place, channels in channels_at.items():
            (channel,) = channels
            first = dimension_order(place, target, walks.dims, walks.wrap, (0, 1))[0]
            label = walks.topology.directions[walks.topology.channel_direction[channel]]
            assert (label.dimension, label.sign) == first[1:]


def test_minimal_adaptive_offers_all_that_comes_nearer() -> None:
    walks = GridWalks("minimal-adaptive", (4, 6, 3), 3)
    random = np.random.default_rng(1)
    for source, target in random.integers(0, len(walks.places), (200, 2)).tolist():
        walk = walks.walker.walk(source, target)
        for offered, (place, _, _) in zip(walk.offers, walks.hops_of(walk), strict=True):
            hops = set()
            for candidate in offered:
                if not candidate.escape:
                    number = walks.topology.channel_direction[candidate.channel]
                    label = walks.topology.directions[number]
                    hops.add((place, label.dimension, label.sign, candidate.vc))
            near = closer(place, walks.places[target], walks.dims, walks.wrap)
            assert hops == {(*hop, 1) for hop in near}


@pytest.mark.parametrize(("text", "vcs"), [("minimal-adaptive", 2), ("goal", 3)])
def test_the_emptier_buffer_is_taken(text, vcs) -> None:
    walks = GridWalks(text, (8, 8), vcs)
    walker = walks.walker
    busy = walks.walk((0, 0), (1, 1), blocked=lambda candidate: candidate.escape).hops[0]
    for channel in range(walks.topology.num_channels):
        label = walks.topology.directions[walks.topology.channel_direction[channel]]
        for vc in range(vcs):
            walker.occupy(channel, vc, 3 + (label.dimension == 1))
    assert busy.penalty == 0
    for _ in range(50):
        hops = walks.hops_of(walks.walk((0, 0), (2, 2)))
        # dimension 1 looks fuller everywhere, so all of dimension 0 comes first
        assert [d for _, d, _ in hops] == sorted(d for _, d, _ in hops)


def test_angara_enters_the_route_from_where_it_is() -> None:
    walks = GridWalks("angara-adaptive", (4, 4), 2)
    table = Routing.from_name("angara-sssp").table(walks.topology)
    first_column = {s for s, place in enumerate(walks.places) if place[0] == 0}
    entered = 0
    for source, target in walks.pairs():
        walk = walks.walk(
            source,
            target,
            # beyond the first column there is no way but the deterministic one
            blocked=lambda candidate: (
                not candidate.escape
                and int(walks.topology.channel_source[candidate.channel]) not in first_column
            ),
        )
        assert walk.arrived
        escapes = [hop.escape for hop in walk.hops]
        assert escapes == sorted(escapes)
        if any(escapes):
            begin = escapes.index(True)
            entered += begin > 0
            entry = int(walks.topology.channel_source[walk.hops[begin].channel])
            assert [walk.channels[begin:]] == table.paths(entry, walks.switch[target])
    assert entered > 20


def test_angara_works_with_failures_and_states_its_needs() -> None:
    torus = build_grid("torus", (4, 4), wrap=True, failed_links=["0-1", "5-6"])
    part = Routing.from_name("angara-adaptive")
    assert part.supports(torus, 2) is None
    assert "needs 2 virtual channels, 1 of them for the table" in part.supports(torus, 1)
    hops = Routing.from_name("angara-adaptive~escape=rdr")
    assert "decides hop by hop" in hops.supports(torus, 4)


def test_goal_offers_only_the_drawn_directions() -> None:
    walks = GridWalks("goal", (6, 6), 4)
    seen: Counter[bool] = Counter()
    for _ in range(300):
        walk = walks.walk((0, 0), (1, 2))
        signs: dict[int, set[int]] = {}
        for offered in walk.offers:
            for candidate in offered:
                label = walks.topology.directions[
                    walks.topology.channel_direction[candidate.channel]
                ]
                signs.setdefault(label.dimension, set()).add(label.sign)
                assert candidate.vc < 2 if candidate.escape else candidate.vc in (2, 3)
        assert all(len(drawn) == 1 for drawn in signs.values())
        seen[signs[0] == {1}] += 1
    agrees(seen, {True: Fraction(5, 6), False: Fraction(1, 6)})

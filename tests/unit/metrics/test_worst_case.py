"""The worst permutation: all permutations tried, a certificate, laws, and numbers from theory."""

import naive_metrics as naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_tables import networks, tables, weighted_table

from routelab.metrics import worst_permutation
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid


@given(tables(networks().filter(lambda topology: topology.num_terminals <= 5)))
@settings(max_examples=50)
def test_no_permutation_is_worse(table):
    assert worst_permutation(table).load == pytest.approx(naive.worst_permutation(table))


@given(tables(), st.randoms(use_true_random=False))
def test_the_permutation_that_is_found_is_a_certificate(table, random):
    worst = worst_permutation(table)
    terminals = list(range(table.topology.num_terminals))
    assert sorted(worst.target.tolist()) == terminals
    loads = naive.permutation_loads(table, worst.target.tolist())
    assert max(loads, default=0) == pytest.approx(worst.load)
    if worst.channel >= 0:
        assert loads[worst.channel] == pytest.approx(worst.load)
    else:
        assert not table.hop_channel.size
    # any other permutation loads no channel more
    random.shuffle(terminals)
    assert max(naive.permutation_loads(table, terminals), default=0) <= worst.load + 1e-9


def ring_table(size, forward):
    """Weighted routes on a ring; ``forward(offset)`` is the share that goes in direction +X."""
    ring = build_grid("torus", (size,), True)
    step = {
        (int(s), int(d)): c
        for c, (s, d) in enumerate(zip(ring.channel_source, ring.channel_direction, strict=True))
    }

    def both_ways(source, target):
        offset = (target - source) % size
        ways = [(forward(offset), offset, 0, 1), (1 - forward(offset), size - offset, 1, -1)]
        return [
            (share, [step[(source + sign * h) % size, direction] for h in range(length)])
            for share, length, direction, sign in ways
            if share > 0
        ]

    return weighted_table(ring, both_ways)


@pytest.mark.parametrize(
    ("forward", "tornado", "worst"),
    [
        (lambda offset: float(offset <= 4), 3, 4),  # shortest way, ties forward
        (lambda offset: 1.0 if offset == 0 else 0.5, 5 / 2, None),  # either way at random
        (lambda offset: 1 - offset / 8, 15 / 8, 2),  # at random, in inverse proportion to length
    ],
)
def test_tornado_traffic_on_a_ring_of_8(forward, tornado, worst):
    # Dally and Towles, Principles and Practices of Interconnection Networks (2004), section 8.1:
    # under tornado traffic (3 ahead) on a ring of 8 the loads are 3, 5/2 and 15/8
    table = ring_table(8, forward)
    loads = naive.permutation_loads(table, [(i + 3) % 8 for i in range(8)])
    assert max(loads) == pytest.approx(tornado)
    load = worst_permutation(table).load
    assert load >= tornado - 1e-9
    if worst is not None:
        assert load == pytest.approx(worst)


@pytest.mark.parametrize("k", [4, 5, 8])
def test_dimension_order_on_a_k_ary_2_cube(k):
    # with all ties in one direction the k // 2 switches before a channel of the first dimension
    # are all that send over it, and the k // 2 behind one of the last all that receive: both
    # numbers are reached, as any partner in the other dimension will do
    torus = build_grid("torus", (k, k), True)
    dor = Routing.from_name("dor~ties=positive").table(torus)
    assert worst_permutation(dor).load == k // 2

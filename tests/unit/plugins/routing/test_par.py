"""par: its choices to the flit, where it makes them, and what they cost in virtual channels."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hop_cases import distances, nearer

from routelab.api import Demand, run_tables
from routelab.kernels import hops as abi
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.testing.walks import Walker
from routelab.toolkit import build_grid


def reason(text, topology, vcs):
    return Routing.from_name(text).supports(topology, vcs)


class Rule:
    """The choice of a packet for one target, from the definition."""

    def __init__(self, topology, threshold) -> None:
        self.topology, self.threshold = topology, threshold
        self.least, self.ways = distances(topology), nearer(topology)

    def leaves(self, flits, switch, source, target, via) -> bool:
        """Whether the packet goes by way of a switch; `flits` is the queue of each channel."""
        if via in (switch, source, target):
            return False
        straight, detour = (
            min(int(flits[channel]) for channel in self.ways(switch, end)) for end in (target, via)
        )
        around = self.least[switch][via] + self.least[via][target]
        return straight * self.least[switch][target] > detour * around + self.threshold


@pytest.mark.parametrize("threshold", [0, 20])
@pytest.mark.parametrize(
    ("network", "hops"), [("torus~dims=4x4", 1), ("torus~dims=4x4", 2), ("dragonfly~h=1", 1)]
)
def test_it_chooses_again_by_queue_length_times_hops(network, hops, threshold) -> None:
    topology = load("topology", network).build()
    vcs = 14
    text = f"par~hops={hops},threshold={threshold},queue=channel"
    program = Routing.from_name(text).prepare(topology, vcs)
    run = run_tables(program, topology, vcs, capacity=8)
    rule = Rule(topology, threshold)
    group = topology.coordinates[:, 0] if "dragonfly" in network else np.zeros(16)
    rng = np.random.default_rng(3)
    out = np.zeros((program.candidates, 3), np.int32)
    size, left = topology.num_switches, {"source": 0, "way": 0, "final": 0, "group": 0}
    for word in rng.integers(2**64, size=1500, dtype=np.uint64):
        random = abi.RandomWord(word)
        free = rng.choice([0, 4, 8], size=topology.num_channels)
        run.queues[: run.buffers, abi.CREDITS] = np.repeat(free, vcs)
        flits = (8 - free) * vcs
        source, target = rng.choice(size, size=2, replace=False).tolist()
        via = int(abi.pick_word(word, len(topology.endpoints)))
        packets = np.zeros((1, abi.PACKET_COLUMNS), np.int32)
        packets[0, [abi.SOURCE, abi.TARGET, abi.DESTINATION]] = source, target, target
        packets[0, abi.WAYPOINT] = -1
        before = packets.copy()
        program.inject(
            run.tables, program.reals.copy(), packets, 0, run.queues, program.hop, random, out
        )
        assert (packets[0, abi.WAYPOINT] == via) == rule.leaves(flits, source, source, target, via)
        left["source"] += packets[0, abi.WAYPOINT] == via
        # the same packet stays on its minimal route for some hops
        packets[:] = before
        here = source
        for number in range(rule.least[source][target]):
            packets[0, abi.HOPS] = number
            last = (0, number - 1) if number else (-1, -1)
            count = program.hop(run.tables, packets, 0, run.queues, here, *last, random, out)
            may = 0 < number <= hops and group[here] == group[source]
            turns = may and rule.leaves(flits, here, source, target, via)
            assert packets[0, abi.WAYPOINT] == (via if turns else -1)
            assert packets[0, abi.TARGET] == target
            offered = sorted(out[:count].tolist())
            heading = via if turns else target
            assert offered == [[channel, number, 0] for channel in rule.ways(here, heading)]
            if turns:
                left["way"] += 1
                break
            would = number > 0 and rule.leaves(flits, here, source, target, via)
            left["final" if number > hops else "group"] += would
            here = int(topology.channel_target[rng.choice(rule.ways(here, target))])
    assert left["source"] > 30
    assert left["way"] > 5
    # it would pay later, too, but the choice is final then, or the group left
    assert left["group" if "dragonfly" in network else "final"] > 5


def test_once_decided_packets_keep_their_waypoint() -> None:
    """Fill all channels but those towards one switch, where the packet is sent by hand."""
    topology = build_grid("torus", (4, 4), wrap=True)
    walker = Walker(
        Routing.from_name("par~hops=8,queue=channel").prepare(topology, 24), topology, 1
    )
    for channel in range(topology.num_channels):
        walker.occupy(channel, 0, int(channel % 7))
    least, turned = distances(topology), 0
    for source, target in permutations(range(16), 2):
        walk = walker.walk(source, target)
        assert walk.arrived
        if walk.waypoint >= 0:
            turned += 1
            switches = [source, *(topology.channel_target[walk.channels].tolist())]
            assert walk.waypoint in switches
            after = len(switches) - 1 - switches.index(walk.waypoint)
            assert after >= least[walk.waypoint][target]
        else:
            assert len(walk.hops) == least[source][target]
    assert turned > 20


@pytest.mark.parametrize(
    ("network", "hops", "needed"),
    [("dragonfly~h=1", 1, 8), ("dragonfly~h=1", 0, 6), ("torus~dims=4x4", 2, 12)],
)
def test_it_needs_the_hops_of_both_halves(network, hops, needed) -> None:
    topology = load("topology", network).build()
    assert reason(f"par~hops={hops}", topology, needed) is None
    assert reason(f"par~hops={hops}", topology, needed - 1).endswith(f"raise vcs to {needed}")


def test_switches_without_terminals_may_be_further_away() -> None:
    """Leaves of a megafly are 3 hops apart, a leaf and a spine up to 4."""
    topology = load("topology", "megafly").build()
    program = Routing.from_name("par").prepare(topology, 10)
    assert (program.vc_classes, program.phases, program.max_hops) == (5, 2, 10)
    assert "raise vcs to 10" in reason("par", topology, 9)


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("sssp@up-down", "has a table"),
        ("romm", "makes choices at injection"),
        ("valiant", "makes choices at injection"),
    ],
)
def test_it_says_which_bases_do_not_do(base, words) -> None:
    assert words in reason(f"par~base=[{base}]", build_grid("torus", (4, 4), wrap=True), 16)


@pytest.fixture(scope="module")
def dragonfly():
    return load("topology", "dragonfly").build()


def ejected(text, dragonfly, demand):
    """Flits that arrive in 2,000 cycles while all terminals send as fast as they can."""
    # ties between fixed candidates are drawn in another way
    program = replace(Routing.from_name(text).prepare(dragonfly, 8), fixed=False)
    router = Router(vcs=8, buffer_flits=16, output_buffer_flits=16, speedup=2)
    simulation = Simulation(dragonfly, program, router, OpenLoop(demand, 1.0), seed=1)
    simulation.run(1500)
    simulation.reset()
    sample = simulation.run(2000)
    assert simulation.blocked() is None
    return sample.ejected_flits


def test_without_further_choices_it_is_ugal(dragonfly) -> None:
    demand = Demand.uniform(dragonfly, "")
    throughputs = [ejected(text, dragonfly, demand) for text in ("par~hops=0", "ugal~base=minimal")]
    assert throughputs[0] == throughputs[1]
    assert ejected("par", dragonfly, demand) != throughputs[0]


def test_it_spreads_traffic_to_one_other_group(dragonfly) -> None:
    """Minimal routes share the only link between two groups: 1 of 8 flits."""
    count = dragonfly.num_terminals
    demand = Demand.permutation((np.arange(count) + 16) % count, "two groups on")
    minimal, ugal, par = (
        ejected(text, dragonfly, demand) / count / 2000
        for text in ("minimal", "ugal~base=minimal", "par")
    )
    assert minimal == pytest.approx(1 / 8, abs=0.005)
    assert ugal > 2.5 * minimal
    # the choice after a local hop sees the queue of the global link
    assert par > 1.01 * ugal

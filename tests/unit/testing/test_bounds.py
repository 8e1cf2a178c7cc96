"""Bounds: plain Python does what compiled code does, and no wrong index goes through."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from deadlock_cases import ring, torus
from decision_programs import TERMINALS, decision_program
from grid_walks import GridWalks
from hop_cases import parity_program, random_steered_program

from routelab.api import HopProgram, Topology, pack_tables
from routelab.deadlock.reachable_states import explore_states
from routelab.kernels import grid_hops
from routelab.kernels.hops import (
    RandomWord,
    another,
    channel_flits,
    hop_kernel,
    inject_kernel,
    offers,
    pick,
    table,
    waiting_flits,
)
from routelab.testing.bounds import BoundsArray, BoundsError, BoundsWalker
from routelab.testing.plain_python import plain_python


class Twin(BoundsWalker):
    """Asks compiled functions, too, with the same packet, and compares all that they write."""

    def _call_hop(self, here, channel, vc, word):
        arguments = self.tables, self._packets, 0, self.queues, here, channel, vc, word
        plain = partial(super()._call_hop, here, channel, vc, word)
        return self._both(partial(self.program.hop, *arguments, self._candidates), plain)

    def _call_inject(self, word):
        arguments = self.tables, self.reals, self._packets, 0, self.queues
        compiled = partial(
            self.program.inject, *arguments, self.program.hop, word, self._candidates
        )
        self._both(compiled, partial(super()._call_inject, word))

    def _both(self, compiled, plain):
        packets, out = self._packets.copy(), self._candidates.copy()
        count = compiled()
        written = self._packets.copy(), self._candidates.copy()
        self._packets[:], self._candidates[:] = packets, out
        answer = plain()
        assert answer in (None, count)
        np.testing.assert_array_equal(self._packets, written[0])
        np.testing.assert_array_equal(self._candidates, written[1])
        return answer


@pytest.mark.parametrize(
    ("text", "vcs"),
    [
        ("goal", 3),
        ("minimal-adaptive", 2),
        ("rdr", 2),
        ("romm", 4),
        ("valiant", 4),
        ("rlb", 4),
        ("rlbth", 4),
        ("dimension-order~ties=random", 2),
        ("angara-adaptive", 2),
        ("balanced-dor", 2),
    ],
)
def test_plain_python_agrees_with_compiled_code(text, vcs) -> None:
    walks = GridWalks(text, (4, 3), vcs)
    assert Twin(walks.program, walks.topology).explore() > 100


@pytest.mark.parametrize("seed", range(5))
def test_plain_python_steers_as_compiled_code_does(seed) -> None:
    topology = ring(4, both=True)
    assert Twin(random_steered_program(topology, seed), topology).explore() > 12


@pytest.mark.parametrize("what", range(9))
@pytest.mark.parametrize("how", ["turns", "detours"])
def test_helpers_and_offers_agree_with_compiled_ones(what, how) -> None:
    topology = torus(3, 3)
    more = {"by_terminal": what == TERMINALS, "waiting": True, how: True}
    program = decision_program(topology, what, **more)
    program = replace(program, vc_classes=program.vc_classes + 1)
    assert Twin(program, topology).explore() > 72


def test_terminals_are_readable_only_if_the_program_says_so() -> None:
    topology = ring(4, both=True)
    assert BoundsWalker(parity_program(topology, 2, by_terminal=True), topology).explore()
    with pytest.raises(BoundsError, match=r"hop: .*the function uses TARGET_TERMINAL"):
        BoundsWalker(parity_program(topology, 2), topology).explore()


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda a: a[-1], r"a\[-1\]: index -1 is outside 0..2"),
        (lambda a: a[3, 0], r"a\[3, 0\]: index 3 is outside 0..2"),
        (lambda a: a[2][4], r"a\[2\]\[4\]: index 4 is outside 0..3"),
        (lambda a: a[0, 1], r"a\[0, 1\]: mine"),
        (lambda a: a[2][1], r"a\[2\]\[1\]: mine"),
        (lambda a: a[0:2][1, np.int64(-4)], "index -4 is outside 0..3"),
        (lambda a: a.__setitem__((0, 4), 1), r"a\[0, 4\]: index 4 is outside 0..3"),
        (
            lambda a: a.__setitem__((0, 0), 2**31),
            r"a\[0, 0\] = 2147483648: it does not fit into 32 bits",
        ),
    ],
)
def test_wrong_indices_are_refused(use, said) -> None:
    array = np.arange(12, dtype=np.int32).reshape(3, 4).view(BoundsArray)
    array.label, array.forbidden = "a", {1: "mine"}
    with pytest.raises(BoundsError, match=said):
        use(array)
    assert (array[2, 3], array[1][2], array[1:][0, 3].__class__) == (11, 6, int)


def test_functions_of_modules_and_closures_are_plain_too() -> None:
    shift = 3

    @hop_kernel
    def hop(tables, packets, packet, queues, switch, channel, vc, random, out):
        return grid_hops.offer(out, 0, switch + shift, 0, 2, pick(another(random), 5))

    @inject_kernel
    def inject(tables, reals, packets, packet, queues, hop, random, out):
        return offers(hop, tables, packets, packet, queues, 4, 2, random, out)

    word, packets = RandomWord(np.uint64(5)), np.zeros((1, 16), np.int32)
    expected, actual = np.zeros((2, 3), np.int32), np.zeros((2, 3), np.int32).view(BoundsArray)
    nothing, tables = np.zeros(0), np.zeros(1, np.int32)
    assert inject(tables, nothing, packets, 0, packets, hop, word, expected) == 2
    with np.errstate(over="ignore"):
        count = plain_python(inject)(
            tables, nothing, packets, 0, packets, plain_python(hop), word, actual
        )
    assert count == 2
    assert actual.tolist() == expected.tolist()
    # compiled code would have written behind the array
    with np.errstate(over="ignore"), pytest.raises(BoundsError, match=r"index 1 is outside 0..0"):
        plain_python(hop)(tables, packets, 0, packets, 4, -1, -1, word, actual[:1])


@hop_kernel
def intrudes(tables, packets, packet, queues, switch, channel, vc, random, out):
    """Read what is the engine's, as the tables say; then clockwise round a ring."""
    where = tables[table(tables, 0)]
    if where == 1:
        out[0, 2] = tables[tables[0]]
    elif where == 2:
        out[0, 2] = queues[switch, 0]
    elif where == 3:
        out[0, 2] = waiting_flits(tables, queues, switch)
    elif where == 4:
        out[0, 2] = channel_flits(tables, queues, 5)
    out[0, 0], out[0, 1] = switch, 0
    return 1


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (0, None),
        (1, r"hop: tables\[3\]: it is beyond the program's own tables"),
        (2, r"hop: queues\[\d, 0\]: read queues only with class_flits"),
        (3, "hop: waiting_flits: the program has waiting=False"),
        (4, r"hop: channel_flits: channel 5 is outside 0\.\.4"),
    ],
)
def test_arrays_of_the_engine_are_read_by_helpers_only(where, said) -> None:
    topology = ring(5)
    walker = BoundsWalker(HopProgram(intrudes, pack_tables(topology, [where]), 1), topology)
    if said is None:
        # all 20 pairs, 1 + 2 + 3 + 4 hops from every switch
        assert walker.explore() == 50
        return
    with pytest.raises(BoundsError, match=said):
        walker.explore()


def test_only_pairs_that_the_network_joins_are_tried() -> None:
    """Clockwise as far as it goes: on a line without its last channel, only forwards."""
    line = Topology.create(num_switches=4, channel_source=[0, 1, 2], channel_target=[1, 2, 3])
    walker = BoundsWalker(HopProgram(intrudes, pack_tables(line, [0]), 1), line)
    assert walker.explore() == 3 + 2 * 2 + 3
    # nothing is joined, and there is no channel that anything could wait for
    alone = Topology.create(num_switches=3, channel_source=[], channel_target=[])
    program = HopProgram(intrudes, pack_tables(alone, [0]), 1, waiting=True)
    assert BoundsWalker(program, alone).explore() == 0
    assert explore_states(program, alone).states == 0


def test_large_networks_are_sampled() -> None:
    large = ring(100)
    walker = BoundsWalker(HopProgram(intrudes, pack_tables(large, [0]), 1, max_hops=100), large)
    # no walk begins after 4000 calls, and none is longer than 99 hops
    assert 4000 <= walker.explore() < 4099

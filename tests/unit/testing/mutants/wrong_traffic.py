"""Wrong patterns of traffic; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from right import RightTraffic

from routelab.api import Demand, Messages


class CountsSwitches(RightTraffic):
    name = "counts-switches"
    caught = "result", "demand() is for 3 terminals, but the network has 6"

    def demand(self, topology, seed):
        return Demand.permutation(np.roll(np.arange(topology.num_switches), 1), "the next switch")


class BareTargets(RightTraffic):
    name = "bare-targets"
    caught = "result", "demand(): expected a Demand, found ndarray"

    def demand(self, topology, seed):
        return self.targets(topology, seed)


class MadeByHand(RightTraffic):
    name = "made-by-hand"
    caught = "result", "Demand.create refuses it: demand: the shares of terminal 0 add up to 0.5"

    def demand(self, topology, seed):
        right = super().demand(topology, seed)
        return replace(right, part_share=right.part_share / 2)


class MessagesOfSome(RightTraffic):
    name = "messages-of-some"
    caught = "result", "messages() is for 1 terminals, but the network has 2"

    def messages(self, topology, seed):
        return Messages.create([0, 1], [0])


class Wordless(RightTraffic):
    name = "wordless"
    caught = "convention", "the convention is ' '"

    def demand(self, topology, seed):
        return Demand.permutation(self.targets(topology, seed), " ")


class OnlyToItself(RightTraffic):
    name = "only-to-itself"
    caught = "senders", "no terminal sends anything"

    def targets(self, topology, seed):
        return np.arange(topology.num_terminals)


class InPercent(RightTraffic):
    name = "in-percent"
    caught = "senders", "terminal 0 has rate 100"

    def demand(self, topology, seed):
        right = super().demand(topology, seed)
        return replace(right, rate=Demand.create(**vars(right) | {"rate": 100 * right.rate}).rate)


class SmallSeeds(RightTraffic):
    name = "small-seeds"
    caught = "seeds", "with seed 4294967297: demand() raised ValueError"

    def targets(self, topology, seed):
        return super().targets(topology, np.random.RandomState(seed).randint(1 << 30))


class LosesTerminals(RightTraffic):
    name = "loses-terminals"
    caught = "seeds", "demand() is for"

    def targets(self, topology, seed):
        return super().targets(topology, seed) if seed else np.zeros(1)


class OtherMessages(RightTraffic):
    name = "other-messages"
    caught = "messages", "are for pairs that demand() leaves out"

    def messages(self, topology, seed):
        return Messages.create(np.arange(topology.num_terminals + 1), super().targets(topology, 1))

    def demand(self, topology, seed):
        back = np.argsort(super().targets(topology, 1))
        return Demand.permutation(back, "the way back of the messages")


class NoMessages(RightTraffic):
    name = "no-messages"
    caught = "messages", "lists none; return None"

    def messages(self, topology, seed):
        return Messages.create(np.zeros(topology.num_terminals + 1), [])

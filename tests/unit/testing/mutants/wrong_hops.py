"""Wrong hop-by-hop routings; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from dataclasses import replace

import hop_kernels
from right import RightHops

from routelab.api import Capabilities


class HasADeadEnd(RightHops):
    name = "has-a-dead-end"
    fault = hop_kernels.DEAD_END
    caught = "reachable", "there is no candidate: "


class LeapsAbout(RightHops):
    name = "leaps-about"
    fault = hop_kernels.LEAP
    caught = "candidates", "is not a channel that leaves the switch"


class ClimbsTooHigh(RightHops):
    name = "climbs-too-high"
    fault = hop_kernels.HIGH
    caught = "candidates", "a candidate is of class 99; classes are 0..0"


class OffersTooMany(RightHops):
    name = "offers-too-many"
    fault = hop_kernels.MANY
    caught = "candidates", "5 candidates are returned, the program claims 4"


class IsNegative(RightHops):
    name = "is-negative"
    fault = hop_kernels.NEGATIVE
    caught = "candidates", "a candidate has penalty -1"


class ForgetsItsTarget(RightHops):
    name = "forgets-its-target"
    fault = hop_kernels.WRITES
    caught = "candidates", "column 1 of the packet is written to"


class HasNoPhaseForIt(RightHops):
    name = "has-no-phase-for-it"
    caught = "candidates", "waypoint 0 is set, and the program has one phase"

    def prepare(self, topology, virtual_channels):
        program = super().prepare(topology, virtual_channels)
        return replace(program, inject=hop_kernels.by_way_of)


class GoesBackAndForth(RightHops):
    name = "goes-back-and-forth"
    fault = hop_kernels.BACK
    caught = "progress", "2 hops are taken, the program claims at most 1"


class ThrowsDice(RightHops):
    name = "throws-dice"
    caught = "random-words", "the same arguments give other candidates"

    def prepare(self, topology, virtual_channels):
        return replace(super().prepare(topology, virtual_channels), hop=hop_kernels.dice)


class ThrowsDiceRarely(RightHops):
    """A sample of calls will not show it, but the code does."""

    name = "throws-dice-rarely"
    caught = "random-words", "np.random.random in rarely may differ between equal calls"

    def prepare(self, topology, virtual_channels):
        return replace(super().prepare(topology, virtual_channels), hop=hop_kernels.rarely)


class CountsBehind(RightHops):
    name = "counts-behind-its-candidates"
    caught = "candidates", "depends on earlier calls"

    def prepare(self, topology, virtual_channels):
        program = super().prepare(topology, virtual_channels)
        return replace(program, hop=hop_kernels.counts, candidates=program.candidates + 1)


class IsNotFixed(RightHops):
    """Its class is the number of the hop, which it reads from the packet."""

    name = "is-not-fixed"
    caught = "candidates", "candidates depend on HOPS"

    def prepare(self, topology, virtual_channels):
        return replace(super().prepare(topology, virtual_channels), fixed=True)


class TakesHopsAround(RightHops):
    name = "takes-hops-around"
    fault = hop_kernels.DETOUR
    more = 2
    caught = "minimal", "3 hops, 1 are enough"


class NeverTurns(RightHops):
    name = "never-turns"
    capabilities = Capabilities(multipath=False, virtual_channels=None)
    caught = "multipath", "packets may take several routes"


class ClaimsFewClasses(RightHops):
    name = "claims-few-classes"
    capabilities = Capabilities(multipath=True, virtual_channels=1)
    caught = "virtual-channels", "it claims 1 virtual channels, and refuses fewer than 2"


class SupportsTooFew(RightHops):
    name = "supports-too-few"
    caught = "virtual-channels", "it supports 1 virtual channels, and its program needs 2"

    def supports(self, topology, virtual_channels):
        return self.cut_off(topology)


class RefusesMore(RightHops):
    name = "refuses-more"
    caught = "virtual-channels", "it supports 2 virtual channels and refuses 3: too many"

    def supports(self, topology, virtual_channels):
        reason = super().supports(topology, virtual_channels)
        return "too many" if reason is None and virtual_channels > 2 else reason


class StaysOnOneClass(RightHops):
    name = "stays-on-one-class"
    fault = hop_kernels.ONE_CLASS
    caught = "deadlock-free", "proof acyclic: 4 resources wait for each other in a cycle: "


class LeavesOneStateWithoutEscape(RightHops):
    name = "leaves-one-state-without-escape"
    fault = hop_kernels.ESCAPES
    proof = "duato"
    caught = "deadlock-free", "proof duato: no candidate is an escape: "


class WaitsForItsBest(RightHops):
    name = "waits-for-its-best"
    proof = "duato"
    caught = "deadlock-free", "proof duato: a packet waits for its best candidate"

    def prepare(self, topology, virtual_channels):
        return replace(super().prepare(topology, virtual_channels), ranking="best")


class ReadsBeyondItsTables(RightHops):
    name = "reads-beyond-its-tables"
    fault = hop_kernels.BEYOND
    caught = "bounds", "is outside 0.."


class ReadsMissingReals(RightHops):
    name = "reads-missing-reals"
    caught = "bounds", "inject: reals[0]: index 0 is outside an empty axis"

    def prepare(self, topology, virtual_channels):
        return replace(super().prepare(topology, virtual_channels), inject=hop_kernels.by_real)


class WritesBeyondItsCandidates(RightHops):
    name = "writes-beyond-its-candidates"
    fault = hop_kernels.OVERWRITES
    caught = "bounds", "hop: out[4, 0]: index 4 is outside 0..3"


class ProvesItself(RightHops):
    name = "proves-itself"
    proof = "trust me"
    caught = "contract", "expected proof to be one of acyclic"


class MakesItsOwnTables(RightHops):
    name = "makes-its-own-tables"
    caught = "result", "not of pack_tables"

    def prepare(self, topology, virtual_channels):
        program = super().prepare(topology, virtual_channels)
        return replace(program, tables=program.tables[:3] * 0)

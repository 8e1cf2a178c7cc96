"""Wrong topologies; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, ConfigDict
from right import RightTopology, RingParameters

from routelab.api import Direction, Parameters, Topology, parameter


class UnreadableParameters(RingParameters):
    sizes: tuple[int, ...] = parameter((1, 2), description="written 1+2 and not read back")


class Unreadable(RightTopology):
    name = "unreadable"
    Parameters = UnreadableParameters
    caught = "name-round-trip", "cannot be read back"


class LenientParameters(RingParameters):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Lenient(RightTopology):
    name = "lenient"
    Parameters = LenientParameters
    caught = "unknown-parameter", "no_such_parameter"


def _no_b(value: str) -> str:
    if value == "b":
        raise ValueError("b is not written yet")
    return value


class ChoiceParameters(RingParameters):
    choice: Annotated[Literal["a", "b"], AfterValidator(_no_b)] = parameter("a", description="x")


class RefusesItsChoice(RightTopology):
    name = "refuses-its-choice"
    Parameters = ChoiceParameters
    caught = "declared-values", "choice=b: is declared and refused"


class StepParameters(Parameters):
    switches: int = parameter(5, ge=0, description="switches in the ring")


class CrashesAtItsLimit(RightTopology):
    name = "crashes-at-its-limit"
    Parameters = StepParameters
    caught = "declared-values", "switches=0: build() raised"

    def build(self):
        return Topology.create(
            num_switches=self.parameters.switches + 1 // self.parameters.switches,
            channel_source=[0, 1],
            channel_target=[1, 0],
        )


class Unchecked(RightTopology):
    """Made by a way round `Topology.create`."""

    name = "unchecked"
    caught = "result", "Topology.create refuses it"

    def build(self):
        return replace(self.ring(), switch_names=("a",) * 5)


class Writeable(RightTopology):
    name = "writeable"
    caught = "result", "channel_latency can be written to"

    def build(self):
        return replace(self.ring(), channel_latency=np.zeros(10))


class NoTopology(RightTopology):
    name = "no-topology"
    caught = "result", "expected a Topology, found NoneType"

    def build(self):
        return None


class Counts(RightTopology):
    """Every network has other capacities than the one before."""

    name = "counts"
    caught = "repeatable", "channel_capacity"
    built = itertools.count(1)

    def build(self):
        return self.ring(channel_capacity=[next(self.built)] * 10)


class HashesText(RightTopology):
    """What ``hash()`` says of text is another thing in every process."""

    name = "hashes-text"
    caught = "fresh-process", "channel_capacity"

    def build(self):
        return self.ring(channel_capacity=[1 + hash(str(c)) % 1000 for c in range(10)])


class Apart(RightTopology):
    name = "apart"
    caught = "connected", "no path connects 8 pairs, such as 0 to 5"

    def build(self):
        whole = self.ring()
        return Topology.create(
            num_switches=6,
            channel_source=whole.channel_source,
            channel_target=whole.channel_target,
            terminal_switch=[0, 1, 2, 3, 5],
        )


class NoTerminals(RightTopology):
    name = "no-terminals"
    caught = "connected", "no terminal"

    def build(self):
        return self.ring(terminal_switch=[])


class OneWay(RightTopology):
    name = "one-way"
    caught = "links", "5 channels have no opposite channel"

    def build(self):
        whole = self.ring()
        return Topology.create(
            num_switches=5,
            channel_source=whole.channel_source[:5],
            channel_target=whole.channel_target[:5],
        )


class FalseRing(RightTopology):
    name = "false-ring"
    caught = "rings", "channel_ring 0 is not a complete ring"

    def build(self):
        return self.ring(channel_ring=[0] * 10)


class FalseDirection(RightTopology):
    name = "false-direction"
    caught = "directions", "channel 0>1 -X leads from [0] to [1]"

    def build(self):
        return self.ring(channel_direction=[1] * 10)


class NoDimension(RightTopology):
    name = "no-dimension"
    caught = "directions", "direction -Y: no such dimension"

    def build(self):
        return self.ring(directions=(Direction("+X", 0, 1), Direction("-Y", 1, -1)))

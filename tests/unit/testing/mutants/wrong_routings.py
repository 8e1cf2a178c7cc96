"""Wrong routings; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from right import RightRouting
from wrong_selections import LosesAPair, Strolls

from routelab.api import Capabilities, Composition
from routelab.testing.inputs.graphs import all_walks


class LosesARoute(RightRouting):
    name = "loses-a-route"
    caught = "reachable", "pairs have no route, such as 0 to 1"

    def route(self, topology):
        return LosesAPair().select(all_walks(topology))


class TakesDetours(RightRouting):
    name = "takes-detours"
    caught = "minimal", "3 hops, 1 are enough"

    def route(self, topology):
        return Strolls().select(all_walks(topology))


class OverAMissingChannel(RightRouting):
    """A route over a channel that does not exist, past `RouteTable.create`."""

    name = "over-a-missing-channel"
    caught = "result", "a hop names a channel that does not exist"

    def route(self, topology):
        table = super().route(topology)
        hops = np.where(table.hop_channel >= 0, topology.num_channels, 0).astype(np.int32)
        hops.setflags(write=False)
        return replace(table, hop_channel=hops)


class FalselyPublished(Composition):
    """Parts that are right, put together under a claim that is not."""

    name = "falsely-published"
    summary = "Any walk on one virtual channel"
    capabilities = Capabilities(flow_control="plain")
    rules = "any-walk"
    selection = "right"
    layers = "as-it-is"
    caught = "deadlock-free", "the table, under plain flow control"

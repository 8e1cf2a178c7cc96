"""Wrong routings; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from right import RightRouting
from wrong_selections import LosesAPair, Strolls

from routelab.api import Capabilities, Composition
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.legal_routes import first_paths, shortest_legal_routes


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


class GivesAll(RightRouting):
    name = "gives-all"
    caught = "multipath", "and it does not claim multipath"

    def route(self, topology):
        return shortest_legal_routes(all_walks(topology))


class ClaimsOne(RightRouting):
    name = "claims-one"
    capabilities = Capabilities(virtual_channels=1)
    caught = "virtual-channels", "it claims 1"


class CanDeadlock(RightRouting):
    name = "can-deadlock"
    caught = "deadlock-free", "the table, under plain flow control"

    def route(self, topology):
        return first_paths(shortest_legal_routes(all_walks(topology)))


class OnlyWhole(RightRouting):
    name = "only-whole"
    caught = "failures", "torus works and failed-torus does not"

    def supports(self, topology):
        return "a part failed" if topology.failed_links else None


class NotForMeshes(RightRouting):
    name = "not-for-meshes"
    caught = "families", "it claims mesh"

    def supports(self, topology):
        return "a mesh" if topology.family == "mesh" else None


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

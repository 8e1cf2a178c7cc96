"""ksp: the k shortest simple paths of every pair, with equal shares of the packets.

Singla, Hong, Popa and Godfrey, *Jellyfish: Networking Data Centers Randomly*, NSDI 2012, use the 8
shortest paths in random regular graphs; Camarero, Martínez and Beivide, *Polarized Routing for
Large Interconnection Networks*, IEEE Micro 42(2), 2022, doi 10.1109/MM.2021.3139392, compare with
them as 8-KSP. Each packet takes one of the paths at random.

Conventions:

- A simple path visits no switch twice. Paths over parallel links are different paths.
- If there are more paths of the last length than are needed, a set of them is drawn for each pair,
  every set with the same probability (`seed`). So no channel is preferred for its number.
- Pairs with fewer than k simple paths use all of them; pairs without a path have no route.

The n-th hop uses the n-th virtual channel, so that no dependencies form a cycle: Merlin and
Schweitzer, *Deadlock Avoidance in Store-and-Forward Networks - I*, IEEE Transactions on
Communications 28(3), 1980, doi 10.1109/TCOM.1980.1094666.
"""

from __future__ import annotations

import numpy as np

from routelab.api import Capabilities, RouteTable, RoutingPlugin, Topology
from routelab.toolkit.families.simple_paths import (
    ShortPathsParameters,
    shortest_simple_paths,
    too_many_paths,
)
from routelab_plugins import works


class Ksp(RoutingPlugin):
    """Routes packets over the k shortest simple paths, chosen at random."""

    name = "ksp"
    summary = "A random one of the k shortest simple paths; a virtual channel per hop"
    citations = (
        works.SINGLA2012("the 8 shortest paths in random regular graphs"),
        works.CAMARERO2022("the comparison with 8-KSP"),
        works.MERLIN1980("a class of buffers for each hop"),
    )
    capabilities = Capabilities(
        minimal=False, multipath=True, flow_control="plain", virtual_channels=None
    )
    Parameters = ShortPathsParameters

    def supports(self, topology: Topology) -> str | None:
        """Return why there are too many paths; None if there are not."""
        return too_many_paths(topology, self.parameters.k)

    def route(self, topology: Topology) -> RouteTable:
        """Return the table of the k shortest simple paths."""
        paths = shortest_simple_paths(topology, self.parameters.k, self.parameters.seed)
        paths_of_pair = np.diff(paths.pair_start)
        # The n-th hop of a path has class n: a running sum of 1 for each hop, which falls back to 0
        # where a path begins. For paths of 3 and 2 hops, the sum of 0 1 1 −2 1 is 0 1 2 0 1. That
        # takes as little memory as the result. A switch has a path to itself, without hops.
        lengths = paths.lengths[paths.lengths > 0]
        hop_class = np.ones(lengths.sum(dtype=np.int64), np.int16)
        hop_class[:1] = 0
        hop_class[np.cumsum(lengths[:-1], dtype=np.int64)] = 1 - lengths[:-1]
        np.cumsum(hop_class, dtype=np.int16, out=hop_class)
        # pairs without a path have no weights, but must not divide by 0
        share_of_path = 1 / np.maximum(paths_of_pair, 1)
        return RouteTable.create(
            topology,
            pair_start=paths.pair_start,
            path_start=paths.hop_start,
            path_weight=np.repeat(share_of_path, paths_of_pair),
            hop_channel=paths.hops,
            hop_vc=hop_class,
        )

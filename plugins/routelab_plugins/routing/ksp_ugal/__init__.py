"""ksp-ugal: one of the k shortest simple paths, chosen at injection by queue length times hops.

Camarero, Martínez and Beivide, *Polarized Routing for Large Interconnection Networks*, IEEE Micro
42(2), 2022, doi 10.1109/MM.2021.3139392, compare with 8-KSP-UGAL. It "selects a path between
minimal and one from the 8-KSP's pool", with the cost of UGAL (Singh, *Load-Balanced Routing in
Interconnection Networks*, PhD thesis, Stanford University, 2005).

With ``compare=two``, the default, a packet draws one of the shortest paths of its pair and one of
all paths in the pool. It takes the shortest one if

    queue of its first channel x hops <= queue of the other's first channel x hops + threshold

With ``compare=all`` it takes the path with the least queue x hops of all; of equal ones a shorter
one, then a random one.

The paths are those of `ksp` with the same `k` and `seed`; the queues are those of `ugal`. The n-th
hop uses the n-th class of virtual channels: Merlin and Schweitzer, *Deadlock Avoidance in
Store-and-Forward Networks - I*, IEEE Transactions on Communications 28(3), 1980, doi
10.1109/TCOM.1980.1094666.
"""

from __future__ import annotations

from typing import Literal

from routelab.api import (
    Capabilities,
    HopProgram,
    HopRoutingPlugin,
    Topology,
    UnsupportedError,
    pack_tables,
    parameter,
)
from routelab.toolkit.families.graph_hops import endpoint_numbers
from routelab.toolkit.families.queue_choice import QueueParameters
from routelab.toolkit.families.simple_paths import (
    ShortPaths,
    ShortPathsParameters,
    shortest_simple_paths,
    too_many_paths,
)
from routelab_plugins import works

from .kernels import hop, inject


class KspUgalParameters(QueueParameters, ShortPathsParameters):
    """Paths, and how packets choose among them."""

    compare: Literal["two", "all"] = parameter(
        "two",
        description="Paths that a packet compares: a random shortest one and a random one, or all "
        "paths of its pair",
    )


class KspUgal(HopRoutingPlugin):
    """Routes packets over one of the k shortest simple paths, chosen by queues at the source."""

    name = "ksp-ugal"
    summary = "One of the k shortest simple paths, by queue length times hops (KSP-UGAL)"
    citations = (
        works.CAMARERO2022("8-KSP-UGAL"),
        works.SINGH2005("the choice by queue length times hops"),
        works.MERLIN1980("a class of buffers for each hop"),
    )
    capabilities = Capabilities(minimal=False, multipath=True, virtual_channels=None)
    proof = "acyclic"
    Parameters = KspUgalParameters

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Require paths between all switches with terminals, and a virtual channel per hop."""
        if reason := too_many_paths(topology, self.parameters.k):
            return reason
        paths, names = self._paths(topology), topology.switch_names
        if pair := paths.pair_without_path:
            source, target = pair
            return f"no path leads from {names[source]} to {names[target]}"
        hops, source, target = paths.longest
        if virtual_channels < hops:
            return (
                f"the longest path, from {names[source]} to {names[target]}, has {hops} hops and "
                f"needs a virtual channel for each; the routers have {virtual_channels}: raise "
                f"vcs to {hops} or lower k"
            )
        return None

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program; its tables hold all paths.

        Raises
        ------
        UnsupportedError
            If the network is not supported.
        """
        if reason := self.supports(topology, virtual_channels):
            raise UnsupportedError(reason)
        paths, options = self._paths(topology), self.parameters
        max_hops, _, _ = paths.longest
        return HopProgram(
            hop=hop,
            inject=inject,
            # in the order of the constants of the kernels
            tables=pack_tables(
                topology,
                # ENDPOINTS, QUEUE, THRESHOLD, COMPARES_ALL
                [
                    len(topology.endpoints),
                    options.queue_number,
                    options.threshold,
                    options.compare == "all",
                ],
                endpoint_numbers(topology),
                paths.pair_start,
                paths.hop_start,
                paths.hops,
            ),
            # at least one class, also if a single switch has all terminals
            vc_classes=max(1, max_hops),
            waiting=options.counts_waiting,
            max_hops=max_hops,
        )

    def _paths(self, topology: Topology) -> ShortPaths:
        return shortest_simple_paths(topology, self.parameters.k, self.parameters.seed)

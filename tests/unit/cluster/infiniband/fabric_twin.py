"""Naive twins: packets that follow the ports of a fabric one by one, without arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise

import networkx as nx

from routelab.toolkit.infiniband import Fabric

Ports = Mapping[tuple[int, int], int]
"""Port by node of a switch and LID."""
Lane = Callable[[int, int, int, int], int]
"""VL by node of a switch, input port, output port and SL."""
Dependency = tuple[tuple[int, int, int], tuple[int, int, int]]


class FabricTwin:
    """A fabric, its LIDs and its forwarding entries.

    Parameters
    ----------
    fabric : Fabric
    ports : mapping of (int, int) to int
        Port by node of a switch and LID.
    """

    def __init__(self, fabric: Fabric, ports: Ports) -> None:
        self.nodes, self.ports = fabric.nodes, ports
        self.owner = {lid: (node, port) for lid, node, port in fabric.lids()}
        self.hosts = [lid for lid, (node, _) in self.owner.items() if not self.is_switch(node)]

    def is_switch(self, node: int) -> bool:
        return self.nodes[node].kind == "switch"

    def begin(self, lid: int) -> tuple[int, int]:
        """Return the switch and input port where packets of a LID enter the network."""
        node, port = self.owner[lid]
        return (node, 0) if self.is_switch(node) else self.nodes[node].ports[port].peer

    def walk(self, source: int, target: int) -> tuple[str, list[tuple[int, int, int]]]:
        """Return the end of a packet, and the switches it passed with input and output port."""
        here, came = self.begin(source)
        passed: list[tuple[int, int, int]] = []
        while True:
            port = self.ports.get((here, target), -1)
            if (here, port) == (self.owner[target][0], 0) and self.is_switch(here):
                return "arrives", passed
            cable = self.nodes[here].ports.get(port)
            if cable is None:
                return "lost", passed
            if cable.peer == self.owner[target]:
                return "arrives", passed
            if not self.is_switch(cable.peer[0]):
                return "lost", passed
            if any(here == switch for switch, _, _ in passed):
                return "loops", passed
            passed.append((here, came, port))
            here, came = cable.peer

    def loads(self) -> Counter[tuple[int, int]]:
        """Count the pairs of hosts whose packets leave a switch by a port and arrive."""
        pairs: Counter[tuple[int, int]] = Counter()
        for source in self.hosts:
            for target in self.hosts:
                end, passed = self.walk(source, target)
                if source != target and end == "arrives":
                    pairs.update((switch, port) for switch, _, port in passed)
        return pairs

    def dependencies(
        self,
        level: Callable[[int, int], int],
        lane: Lane,
        same: bool = False,
        hosts_only: bool = False,
    ) -> set[Dependency]:
        """Return which lane of a port waits for which.

        Parameters
        ----------
        level : callable
            SL from one LID to another.
        lane : callable
        same : bool
            Whether hosts reply on the SL of the request, too.
        hosts_only : bool
            Whether to leave out packets from and to switches.
        """
        waits = set()
        ends = self.hosts if hosts_only else list(self.owner)
        for source in ends:
            for target in ends:
                end, passed = self.walk(source, target)
                if end == "loops" or self.begin(source)[0] == self.begin(target)[0]:
                    continue
                levels = {level(source, target)}
                if same and source in self.hosts and target in self.hosts:
                    levels.add(level(target, source))
                for sl in levels:
                    held = []
                    for switch, came, port in passed:
                        if lane(switch, came, port, sl) == 15:
                            break
                        held.append((switch, port, lane(switch, came, port, sl)))
                    waits |= set(pairwise(held))
        return waits


def groups_that_wait(edges: Collection[Dependency]) -> int:
    """Count the strongly connected components with several resources."""
    groups = nx.strongly_connected_components(nx.DiGraph(edges))
    return sum(len(group) > 1 for group in groups)

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from routelab.api import Direction, RouteTable, Topology


@pytest.fixture(scope="session")
def topology() -> Topology:
    """A ring of four switches with a doubled channel, everything optional filled in."""
    source = [0, 1, 1, 2, 2, 3, 3, 0, 0]
    target = [1, 0, 2, 1, 3, 2, 0, 3, 1]
    return Topology.create(
        family="ring",
        num_switches=4,
        channel_source=source,
        channel_target=target,
        terminal_switch=[0, 1, 1, 3],
        source_port=range(9),
        target_port=[8, 7, 6, 5, 4, 3, 2, 1, -1],
        channel_direction=[0, 1, 0, 1, 0, 1, 0, 1, -1],
        channel_ring=[0, 1, 0, 1, 0, 1, 0, 1, -1],
        channel_latency=np.linspace(1e-7, 3e-7, 9),
        channel_capacity=[1.0] * 8 + [0.5],
        directions=[Direction("+X", 0, 1), Direction("−X", 0, -1)],
        coordinates=[[0], [1], [2], [3]],
        switch_names=["a", "b,1", "ü", "d"],
        failed_switches=["gone"],
        failed_links=["a-gone"],
        attributes={"dims": [4], "note": "doubled", "share": 0.5},
    )


def shortest_paths(topology: Topology, source: int, target: int) -> list[list[int]]:
    """All paths of fewest hops, as channels."""
    queue = deque([(source, [])])
    paths: list[list[int]] = []
    while queue:
        here, path = queue.popleft()
        if paths and len(path) > len(paths[0]):
            break
        if here == target:
            paths.append(path)
            continue
        for channel in np.flatnonzero(topology.channel_source == here):
            queue.append((int(topology.channel_target[channel]), [*path, int(channel)]))
    return paths


@pytest.fixture(scope="session")
def table(topology: Topology) -> RouteTable:
    """Every shortest path with its share; the first pair between different switches has none."""
    ends = topology.endpoints.tolist()
    pairs = [shortest_paths(topology, i, j) for i in ends for j in ends]
    pairs[1] = []
    paths = [path for pair in pairs for path in pair]
    return RouteTable.create(
        topology,
        pair_start=np.cumsum([0, *map(len, pairs)]),
        path_start=np.cumsum([0, *map(len, paths)]),
        path_weight=[1 / len(pair) for pair in pairs for _ in pair],
        hop_channel=[channel for path in paths for channel in path],
        hop_vc=[hop for path in paths for hop in range(len(path))],
        flow_control="bubble",
    )

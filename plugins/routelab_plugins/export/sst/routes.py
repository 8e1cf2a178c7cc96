"""routes.json: the paths of all pairs, as lists of routers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from routelab.api import InputError, RouteTable, Topology


def route_lines(table: RouteTable) -> Iterator[str]:
    """Yield one JSON object, with a line for each source; every switch has terminals."""
    num_switches = table.num_destinations
    pair_start, path_start = table.pair_start.tolist(), table.path_start.tolist()
    weights = table.path_weight.tolist()
    routers = table.topology.channel_target[table.hop_channel].tolist()
    yield "{"
    for source in range(num_switches):
        paths_to = {}
        for target in range(num_switches):
            pair = source * num_switches + target
            if target != source:
                paths_to[target] = [
                    [weights[path], routers[path_start[path] : path_start[path + 1]]]
                    for path in range(pair_start[pair], pair_start[pair + 1])
                ]
        comma = "," if source < num_switches - 1 else ""
        yield f'"{source}":{json.dumps(paths_to, separators=(",", ":"))}{comma}'
    yield "}"


def read_routes(text: str, topology: Topology) -> RouteTable:
    """Return the table of a file that `route_lines` wrote, on the virtual channels of SST.

    Raises
    ------
    InputError, PluginError, ValueError, TypeError, AttributeError
        If it is damaged or belongs to another network.
    """
    paths_from = json.loads(text)  # by source, target: lists of [weight, routers]
    router_keys = [str(router) for router in range(topology.num_switches)]
    if paths_from.keys() != set(router_keys):
        raise InputError(f"it has routes from {len(paths_from)} of {len(router_keys)} routers")
    channel_ends = zip(
        topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True
    )
    channel_between = {ends: channel for channel, ends in enumerate(channel_ends)}
    paths_of_pair: list[int] = []
    lengths: list[int] = []
    weights: list[float] = []
    hops: list[int] = []
    for source, paths_to in enumerate(paths_from[key] for key in router_keys):
        # the path of a router to itself, which the table needs and the file lacks
        paths_to[str(source)] = [[1.0, []]]
        if paths_to.keys() != set(router_keys):
            raise InputError(f"router {source} has routes to {len(paths_to) - 1} others")
        for target in router_keys:
            paths_of_pair.append(len(paths_to[target]))
            for weight, routers in paths_to[target]:
                # not isinstance, for which True is an int; the weights of a pair may add up to
                # 1 + 1e-6, as in a route table
                if type(weight) not in (int, float) or not 0 < weight <= 1 + 1e-6:
                    raise InputError(
                        f"a path from router {source} to {target} has weight {weight!r}"
                    )
                current = source
                for router in routers:
                    if (current, router) not in channel_between:
                        raise InputError(
                            f"a path from router {source} to {target} takes a link from {current} "
                            f"to {router}, which does not exist"
                        )
                    hops.append(channel_between[current, router])
                    current = router
                lengths.append(len(routers))
                weights.append(weight)
    if not all(paths_of_pair):
        raise InputError("a pair of routers has no path")
    path_start = _offsets(lengths)
    # SST: a packet's k-th hop is on virtual channel k, from 1; paths of 2 and 3 hops: 1 2 1 2 3
    hop_vc = np.arange(1, len(hops) + 1) - np.repeat(path_start[:-1], lengths)
    return RouteTable.create(
        topology,
        pair_start=_offsets(paths_of_pair),
        path_start=path_start,
        path_weight=weights,
        hop_channel=hops,
        hop_vc=hop_vc,
    )


def _offsets(counts: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return where each group begins, and the end of the last: 0, 2, 5 for counts 2 and 3."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)))

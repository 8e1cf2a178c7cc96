"""All simple paths of a pair by plain recursion."""

from __future__ import annotations

from routelab.api import Topology


def simple_paths(topology: Topology, source: int, target: int, most: int = 99) -> list[list[int]]:
    """Channels of all simple paths of at most that many hops, from short to long."""
    ends = list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )

    def onward(here: int, passed: tuple[int, ...], channels: list[int]) -> list[list[int]]:
        if here == target:
            return [channels]
        if len(channels) == most:
            return []
        return [
            path
            for channel, (start, end) in enumerate(ends)
            if start == here and end not in passed
            for path in onward(end, (*passed, end), [*channels, channel])
        ]

    return sorted(onward(source, (source,), []), key=len)

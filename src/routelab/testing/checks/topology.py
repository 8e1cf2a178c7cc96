"""Checks of topologies."""

from __future__ import annotations

import numpy as np

from routelab.api import Direction, Topology
from routelab.testing.bare_network import bare_lengths, one_way_channels
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial
from routelab.toolkit.rings import complete_rings


def connected(trial: Trial) -> str:
    """Check that terminals reach each other, unless parts failed or it is declared unconnected."""
    topology: Topology = trial.result
    if not topology.num_terminals:
        raise Failed("the network has no terminals, so there is nothing to route")
    unconnected_pairs = np.argwhere(bare_lengths(topology) < 0)
    if not unconnected_pairs.size:
        return "connected"
    names = [topology.switch_names[switch] for switch in topology.endpoints[unconnected_pairs[0]]]
    text = f"no path connects {len(unconnected_pairs)} pairs, such as {names[0]} to {names[1]}"
    is_declared = topology.attributes.get("connected") is False or _is_from_file(trial)
    if is_declared or topology.failed_switches or topology.failed_links:
        return text
    raise Failed(f'{text}; join them, or declare it: attributes={{"connected": False}}')


def links(trial: Trial) -> str:
    """Check that every channel has one back, unless the network is declared directed."""
    topology: Topology = trial.result
    one_way = one_way_channels(topology)
    if not one_way:
        return f"{topology.num_channels // 2} links"
    example = topology.channel_name(one_way[0])
    text = f"{len(one_way)} channels have no opposite channel, such as {example}"
    if topology.attributes.get("directed") is True or _is_from_file(trial):
        return text
    raise Failed(
        f'{text}; an undirected link is two channels, or declare it: attributes={{"directed": '
        f"True}}"
    )


def rings(trial: Trial) -> str:
    """Check that the channels of each declared ring form one complete ring."""
    topology: Topology = trial.result
    # channel_ring has the number of each channel's ring; −1: none
    claimed = np.unique(topology.channel_ring[topology.channel_ring >= 0])
    if not claimed.size:
        raise Skipped("no ring is claimed")
    # a complete ring is a list of channels with one ring number, which its first channel has, too
    complete = {int(topology.channel_ring[channels[0]]) for channels in complete_rings(topology)}
    incomplete = [int(ring) for ring in claimed if int(ring) not in complete]
    if incomplete:
        members = np.flatnonzero(topology.channel_ring == incomplete[0])[:3]
        channels = ", ".join(topology.channel_name(int(channel)) for channel in members)
        raise Failed(f"channel_ring {incomplete[0]} is not a complete ring: {channels} ...")
    return f"{len(claimed)} rings"


def directions(trial: Trial) -> str:
    """Check that a channel with a direction changes only the coordinate of that dimension.

    The change is one step in the direction's sign, or wraps around the dimension.
    """
    topology: Topology = trial.result
    labelled = np.flatnonzero(topology.channel_direction >= 0)
    if topology.coordinates is None or not labelled.size:
        raise Skipped("no coordinates, or no channel with a direction")
    dimensions = topology.coordinates.shape[1]
    invalid = [
        direction.name for direction in topology.directions if not _is_valid(direction, dimensions)
    ]
    if invalid:
        raise Failed(f"direction {invalid[0]}: no such dimension, or a sign that is not 1 or -1")
    size = topology.coordinates.max(axis=0) + 1
    for channel in labelled.tolist():
        direction = topology.directions[topology.channel_direction[channel]]
        step = np.zeros(dimensions, dtype=np.int64)
        step[direction.dimension] = direction.sign
        source, target = topology.channel_source[channel], topology.channel_target[channel]
        # modulo the sizes, as a channel may wrap around the dimension
        expected = (topology.coordinates[source] + step) % size
        if not np.array_equal(expected, topology.coordinates[target] % size):
            raise Failed(
                f"channel {topology.channel_name(channel)} leads from "
                f"{topology.coordinates[source].tolist()} to "
                f"{topology.coordinates[target].tolist()}"
            )
    return f"{len(labelled)} channels"


def _is_from_file(trial: Trial) -> bool:
    """Whether the network comes from a file, which may have any attributes."""
    return bool(trial.subject.plugin.input_files())


def _is_valid(direction: Direction, dimensions: int) -> bool:
    return 0 <= direction.dimension < dimensions and direction.sign in (1, -1)

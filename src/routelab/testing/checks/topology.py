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
    apart = np.argwhere(bare_lengths(topology) < 0)
    if not apart.size:
        return "connected"
    names = [topology.switch_names[topology.endpoints[end]] for end in apart[0]]
    text = f"no path connects {len(apart)} pairs, such as {names[0]} to {names[1]}"
    says_so = topology.attributes.get("connected") is False or _from_a_file(trial)
    if says_so or topology.failed_switches or topology.failed_links:
        return text
    raise Failed(f'{text}; join them, or declare it: attributes={{"connected": False}}')


def links(trial: Trial) -> str:
    """Check that every channel has one back, unless the network is declared directed."""
    topology: Topology = trial.result
    alone = one_way_channels(topology)
    if not alone:
        return f"{topology.num_channels // 2} links"
    text = (
        f"{len(alone)} channels have no opposite channel, such as {topology.channel_name(alone[0])}"
    )
    if topology.attributes.get("directed") is True or _from_a_file(trial):
        return text
    raise Failed(
        f'{text}; an undirected link is two channels, or declare it: attributes={{"directed": '
        f"True}}"
    )


def rings(trial: Trial) -> str:
    """Check that the channels of each declared ring form one complete ring."""
    topology: Topology = trial.result
    claimed = np.unique(topology.channel_ring[topology.channel_ring >= 0])
    if not claimed.size:
        raise Skipped("no ring is claimed")
    proven = {int(topology.channel_ring[ring[0]]) for ring in complete_rings(topology)}
    false = [int(ring) for ring in claimed if int(ring) not in proven]
    if false:
        members = np.flatnonzero(topology.channel_ring == false[0])[:3]
        channels = ", ".join(topology.channel_name(int(channel)) for channel in members)
        raise Failed(f"channel_ring {false[0]} is not a complete ring: {channels} ...")
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
    invalid = [label.name for label in topology.directions if not _sound(label, dimensions)]
    if invalid:
        raise Failed(f"direction {invalid[0]}: no such dimension, or a sign that is not 1 or -1")
    size = topology.coordinates.max(axis=0) + 1
    for channel in labelled.tolist():
        label = topology.directions[topology.channel_direction[channel]]
        step = np.zeros(dimensions, dtype=np.int64)
        step[label.dimension] = label.sign
        source, target = topology.channel_source[channel], topology.channel_target[channel]
        # modulo the sizes, as a channel may wrap around the dimension
        moved = (topology.coordinates[source] + step) % size
        if not np.array_equal(moved, topology.coordinates[target] % size):
            raise Failed(
                f"channel {topology.channel_name(channel)} leads from "
                f"{topology.coordinates[source].tolist()} to "
                f"{topology.coordinates[target].tolist()}"
            )
    return f"{len(labelled)} channels"


def _from_a_file(trial: Trial) -> bool:
    """Whether the network comes from a file, which may have any attributes."""
    return bool(trial.subject.plugin.input_files())


def _sound(label: Direction, dimensions: int) -> bool:
    return 0 <= label.dimension < dimensions and label.sign in (1, -1)

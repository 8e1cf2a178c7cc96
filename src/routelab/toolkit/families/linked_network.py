"""Networks from lists of undirected links: channels, ports, failures and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.errors import InputError
from routelab.api.topology import Direction, Int64Array, Topology
from routelab.toolkit.failures import FailureParameters, with_failures

MAX_SWITCHES = 1_000_000
"""Largest number of switches that is built; a larger network is probably a typing error."""
MAX_LINKS = 20_000_000
"""Largest number of links that is built; 20 million links take about 3 GB of memory."""


def check_size(family: str, switches: int, links: int) -> None:
    """Raise an error before a network is built that is too large.

    Raises
    ------
    InputError
        If there are more than `MAX_SWITCHES` switches or `MAX_LINKS` links.
    """
    if switches > MAX_SWITCHES or links > MAX_LINKS:
        raise InputError(
            f"{family}: the network has {switches:,} switches and {links:,} links; the limits are "
            f"{MAX_SWITCHES:,} switches and {MAX_LINKS:,} links"
        )


def random_numbers(seed: int, stream: int) -> np.random.PCG64:
    """Return a generator of random numbers for the structure of a network.

    Use its raw output, which is the same in every version of NumPy. `with_random_failures` reads
    another stream of the same seed.

    Parameters
    ----------
    seed : int
    stream : int
        Number of the stream, from 0; the child of that number of NumPy's ``SeedSequence(seed)``.
    """
    return np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(stream,)))


def random_orders(seed: int, stream: int, rows: int, columns: int) -> Int64Array:
    """Return a random order of 0 … columns − 1 in each row; int64, shape (rows, columns)."""
    words = random_numbers(seed, stream).random_raw(rows * columns)
    order: Int64Array = np.argsort(words.reshape(rows, columns), axis=1, kind="stable")
    return order


def ports_by_neighbour(ends: Int64Array, num_switches: int) -> Int64Array:
    """Return ports that number the links of each switch from 0, in the order of its neighbours.

    Parallel links keep their order, at both ends.

    Parameters
    ----------
    ends : int64 array, shape (L, 2)
        Switches at the ends of each link.

    Returns
    -------
    ports : int64 array, shape (L, 2)
    """
    # All first ends, then all second ends.
    switch, neighbour = ends.T.reshape(-1), ends[:, ::-1].T.reshape(-1)
    order = np.lexsort((neighbour, switch))  # by switch, then by neighbour
    # A port is the rank of an end among those of its switch.
    first_rank = np.searchsorted(switch[order], np.arange(num_switches))
    ports = np.empty(len(switch), dtype=np.int64)
    ports[order] = np.arange(len(switch)) - first_rank[switch[order]]
    return ports.reshape(2, -1).T


def linked_network(
    family: str,
    *,
    switch_names: Sequence[str],
    ends: Int64Array,
    ports: Int64Array,
    terminal_switch: ArrayLike,
    parameters: Mapping[str, Any],
    facts: Mapping[str, Any],
    coordinates: ArrayLike | None = None,
    directions: Sequence[Direction] = (),
    channel_direction: NDArray[np.int64] | None = None,
    failures: FailureParameters | None = None,
) -> Topology:
    """Build a network with two channels for each link, then let parts of it fail.

    Channels are sorted by source, target and link, so that `Topology.links` pairs the two channels
    of one link even if it has parallel links.

    Parameters
    ----------
    family : str
    switch_names : sequence of str, length S
    ends, ports : int64 arrays, shape (L, 2)
        Switches at the ends of each link, and their ports.
    terminal_switch : array of int, shape (T,)
    parameters, facts : mapping
        Attributes of the network; the facts are left out if parts failed, because they describe
        the whole network.
    coordinates : array of int, shape (S, n), optional
    directions : sequence of Direction
    channel_direction : int64 array, shape (L, 2), optional
        Direction of the channel that leaves each end of a link.
    failures : FailureParameters, optional
        See `routelab.toolkit.failures.with_failures`; switches have the numbers of `switch_names`.

    Raises
    ------
    InputError
        If a failed part does not exist, or more parts shall fail than exist.
    """
    # Channels that leave the first ends of all links, then those that leave the second ends
    source, target = ends.T.reshape(-1), ends[:, ::-1].T.reshape(-1)
    link = np.tile(np.arange(len(ends)), 2)
    order = np.lexsort((link, target, source))
    failing = failures is not None and failures.any_failures
    whole = Topology.create(
        family=family,
        num_switches=len(switch_names),
        channel_source=source[order],
        channel_target=target[order],
        terminal_switch=terminal_switch,
        source_port=ports.T.reshape(-1)[order],
        target_port=ports[:, ::-1].T.reshape(-1)[order],
        channel_direction=(
            None if channel_direction is None else channel_direction.T.reshape(-1)[order]
        ),
        directions=directions,
        coordinates=coordinates,
        switch_names=switch_names,
        attributes={**parameters, **({} if failing else facts)},
    )
    return whole if failures is None else with_failures(whole, failures)

"""Translation of routes from the representatives of classes to all sources."""

import numpy as np

from routelab.kernels.choices import ChoiceArrays
from routelab.kernels.jit import helper, jit
from routelab.kernels.symmetry import source_images


@jit
def first_longer_path(
    pair_start, path_start, lengths, symmetry, endpoints, destination_endpoint, num_channels
):
    """Find the first path of a table with more hops than the shortest legal ones; −1 if none.

    Parameters
    ----------
    pair_start, path_start
        As in `routelab.api.RouteTable`.
    lengths : int32 array, shape (Q, P)
        Hops of the shortest legal routes from the representatives.
    symmetry : SymmetryArrays
    endpoints : int32 array, shape (P,)
    destination_endpoint : int64 array, shape (D,)
        Index of each destination's switch among the endpoints.
    num_channels : int
    """
    ends, destinations = len(endpoints), len(destination_endpoint)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(num_channels, np.int32)
    preimage = np.empty(ends, np.int32)
    for i in range(ends):
        q = symmetry.source_class[endpoints[i]]
        source_images(symmetry, endpoints[i], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        for j in range(destinations):
            p = i * destinations + j
            shortest = lengths[q, preimage[destination_endpoint[j]]]
            for k in range(pair_start[p], pair_start[p + 1]):
                if path_start[k + 1] - path_start[k] > shortest:
                    return k
    return -1


@jit
def translate_routes(choices, symmetry, sources, endpoints, num_channels):
    """Translate the routes of the representatives to any switches.

    Parameters
    ----------
    choices : ChoiceArrays
        Routes of the representatives.
    symmetry : SymmetryArrays
    sources : int32 array, shape (R,)
        Switches.
    endpoints : int32 array, shape (P,)
    num_channels : int

    Returns
    -------
    ChoiceArrays
        Rows ``r * P + j`` describe the routes from source r to endpoint j.
    """
    ends = len(endpoints)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(num_channels, np.int32)
    preimage = np.empty(ends, np.int32)
    length = np.empty(len(sources) * ends, np.int32)
    count = np.empty(len(sources) * ends, np.int32)
    first_hop = np.empty(len(sources) * ends, np.int64)
    sampled = np.empty(len(sources) * ends, np.bool_)
    # 1. The hops of all routes: a source has as many as its representative.
    total = 0
    for source in sources:
        q = symmetry.source_class[source]
        for p in range(q * ends, (q + 1) * ends):
            total += np.int64(choices.routes[p]) * max(choices.length[p], 0)
    # 2. Row by row, those of the pair whose image it is; first the image of all channels, which
    #    is the same for all rows of a source.
    hops = np.empty(total, np.int32)
    used = 0
    known_length, known_count, known_hops = choices.length, choices.routes, choices.hops
    for r in range(len(sources)):
        q = symmetry.source_class[sources[r]]
        source_images(symmetry, sources[r], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        for j in range(ends):
            p = q * ends + preimage[j]
            row = r * ends + j
            length[row], count[row] = known_length[p], known_count[p]
            sampled[row] = choices.sampled[p]
            first_hop[row] = used
            first_hop_of_pair = choices.first_hop[p]
            for h in range(
                first_hop_of_pair, first_hop_of_pair + np.int64(max(length[row], 0)) * count[row]
            ):
                hops[used] = channel_image[known_hops[h]]
                used += 1
    return ChoiceArrays(length, count, first_hop, hops, sampled)


@jit
def image_rows(symmetry, sources, endpoints, num_channels):
    """Return the row of the representatives whose image is each row of `translate_routes`.

    Returns
    -------
    rows : int64 array, shape (R * P,)
    """
    ends = len(endpoints)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(num_channels, np.int32)
    preimage = np.empty(ends, np.int32)
    rows = np.empty(len(sources) * ends, np.int64)
    for r in range(len(sources)):
        source_images(symmetry, sources[r], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        for j in range(ends):
            rows[r * ends + j] = symmetry.source_class[sources[r]] * ends + preimage[j]
    return rows


@helper()
def fill_preimages(endpoints, switch_image, preimage):
    """Set ``preimage[j]`` to the endpoint whose image is endpoint j."""
    endpoint_of = np.empty(len(switch_image), np.int32)
    for j in range(len(endpoints)):
        endpoint_of[endpoints[j]] = j
    for j in range(len(endpoints)):
        preimage[endpoint_of[switch_image[endpoints[j]]]] = j


@jit
def hops_by_source(choices, symmetry, endpoints):
    """Return each source's first hop in a table of one route per pair; int64, shape (P + 1,)."""
    ends = len(endpoints)
    of_class = np.zeros(len(symmetry.representative), np.int64)
    for q in range(len(of_class)):
        for p in range(q * ends, (q + 1) * ends):
            of_class[q] += max(choices.length[p], 0)
    start = np.zeros(ends + 1, np.int64)
    for i in range(ends):
        start[i + 1] = start[i] + of_class[symmetry.source_class[endpoints[i]]]
    return start


@jit
def write_chosen_routes(
    choices, chosen, by_pair, symmetry, endpoints, start, sources, lengths, hops
):
    """Write the routes of some sources into the table with one chosen route per pair.

    Parameters
    ----------
    choices : ChoiceArrays
        Routes of the representatives.
    chosen : int32 array, shape (Q * P,) or (P * P,)
        Number of the route of each row, or of each pair; any value if it has no route.
    by_pair : bool
        Whether `chosen` is for each pair.
    symmetry : SymmetryArrays
    endpoints : int32 array, shape (P,)
    start : int64 array, shape (P + 1,)
        From `hops_by_source`.
    sources : tuple of two ints
        The first one and the one behind the last.
    lengths : int32 array, shape (P, P)
        The sources' rows are overwritten; −1 for no route.
    hops : int32 array
        The sources' part is overwritten: channels of all routes, pair after pair.
    """
    ends = len(endpoints)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(len(symmetry.channel_source), np.int32)
    preimage = np.empty(ends, np.int32)
    known_length, first_hop, known_hops = choices.length, choices.first_hop, choices.hops
    for i in range(sources[0], sources[1]):
        q = symmetry.source_class[endpoints[i]]
        source_images(symmetry, endpoints[i], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        used = start[i]
        for j in range(ends):
            p = q * ends + preimage[j]
            n = known_length[p]
            lengths[i, j] = n
            route_start = first_hop[p] + np.int64(n) * chosen[i * ends + j if by_pair else p]
            for h in range(n):
                hops[used + h] = channel_image[known_hops[route_start + h]]
            used += max(n, 0)


@jit
def single_route_load(choices, weight, bins, num_bins):
    """Sum the load of the rows with one route by bin.

    Parameters
    ----------
    weight : int64 array, shape (R,)
        Weight of each row's route.
    bins : int32 array
        Bin of every hop in ``choices.hops``.
    num_bins : int

    Returns
    -------
    load : int64 array, shape (B,)
    """
    load = np.zeros(num_bins, np.int64)
    length, count, first_hop = choices.length, choices.routes, choices.first_hop
    for p in range(len(weight)):
        if count[p] == 1:
            for h in range(first_hop[p], first_hop[p] + length[p]):
                load[bins[h]] += weight[p]
    return load

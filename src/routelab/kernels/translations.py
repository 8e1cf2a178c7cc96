"""Translation of routes from the representatives of classes to all sources.

A translation maps the representative of a class to another source of it. The routes from this
source to endpoint j are the images of those from the representative to the *preimage* of j: the
endpoint that the translation maps to j.
"""

import numpy as np

from routelab.kernels.choices import ChoiceArrays
from routelab.kernels.jit import helper, jit
from routelab.kernels.symmetry import fill_source_images


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
    num_endpoints, num_destinations = len(endpoints), len(destination_endpoint)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(num_channels, np.int32)
    preimage = np.empty(num_endpoints, np.int32)
    for i in range(num_endpoints):
        q = symmetry.source_class[endpoints[i]]
        fill_source_images(symmetry, endpoints[i], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        for j in range(num_destinations):
            p = i * num_destinations + j
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
    num_endpoints = len(endpoints)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(num_channels, np.int32)
    preimage = np.empty(num_endpoints, np.int32)
    length = np.empty(len(sources) * num_endpoints, np.int32)
    num_routes = np.empty(len(sources) * num_endpoints, np.int32)
    first_hop = np.empty(len(sources) * num_endpoints, np.int64)
    sampled = np.empty(len(sources) * num_endpoints, np.bool_)
    # 1. The number of hops of all routes: a source has as many as its representative.
    num_hops = 0
    for source in sources:
        q = symmetry.source_class[source]
        for original in range(q * num_endpoints, (q + 1) * num_endpoints):
            num_hops += np.int64(choices.routes[original]) * max(choices.length[original], 0)
    # 2. Row by row, the images of the routes in the row `original` of the representative. The image
    #    of a channel is the same for all rows of a source.
    hops = np.empty(num_hops, np.int32)
    next_position = 0
    original_length, original_count, original_hops = choices.length, choices.routes, choices.hops
    for r in range(len(sources)):
        q = symmetry.source_class[sources[r]]
        fill_source_images(symmetry, sources[r], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        for j in range(num_endpoints):
            original = q * num_endpoints + preimage[j]
            row = r * num_endpoints + j
            length[row], num_routes[row] = original_length[original], original_count[original]
            sampled[row] = choices.sampled[original]
            first_hop[row] = next_position
            original_first_hop = choices.first_hop[original]
            for h in range(
                original_first_hop,
                original_first_hop + np.int64(max(length[row], 0)) * num_routes[row],
            ):
                hops[next_position] = channel_image[original_hops[h]]
                next_position += 1
    return ChoiceArrays(length, num_routes, first_hop, hops, sampled)


@jit
def image_rows(symmetry, sources, endpoints, num_channels):
    """Return which row of the representatives `translate_routes` translates to each of its rows.

    Returns
    -------
    rows : int64 array, shape (R * P,)
        Row ``q * P + k`` for ``r * P + j``: q is the class of source r, and k the preimage of j.
    """
    num_endpoints = len(endpoints)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(num_channels, np.int32)
    preimage = np.empty(num_endpoints, np.int32)
    rows = np.empty(len(sources) * num_endpoints, np.int64)
    for r in range(len(sources)):
        fill_source_images(symmetry, sources[r], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        for j in range(num_endpoints):
            rows[r * num_endpoints + j] = (
                symmetry.source_class[sources[r]] * num_endpoints + preimage[j]
            )
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
def source_hop_offsets(choices, symmetry, endpoints):
    """Return where the hops of each source begin in a table with one route per pair.

    So each source's routes can be written for itself, without those before it.

    The table's array of hops has the routes of source i at ``start[i]:start[i + 1]``. All routes of
    a pair are equally long, so it does not matter which are chosen.

    Returns
    -------
    start : int64 array, shape (P + 1,)
        If the routes of three sources have 4, 5 and 4 hops in all: 0, 4, 9, 13.
    """
    num_endpoints = len(endpoints)
    # Hops of all pairs from a source of each class: as many as from the class's representative.
    hops_of_class = np.zeros(len(symmetry.representative), np.int64)
    for q in range(len(hops_of_class)):
        for row in range(q * num_endpoints, (q + 1) * num_endpoints):
            hops_of_class[q] += max(choices.length[row], 0)  # −1: no route
    start = np.zeros(num_endpoints + 1, np.int64)
    for i in range(num_endpoints):
        start[i + 1] = start[i] + hops_of_class[symmetry.source_class[endpoints[i]]]
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
        Which of its routes each row of `choices`, or each pair, has in the table, from 0; any value
        if there is no route.
    by_pair : bool
        Whether `chosen` has a number for each pair; else for each row, and all sources of a class
        get the same choice.
    symmetry : SymmetryArrays
    endpoints : int32 array, shape (P,)
    start : int64 array, shape (P + 1,)
        From `source_hop_offsets`.
    sources : tuple of two ints
        Indices of the first one and of the one behind the last, among the endpoints.
    lengths : int32 array, shape (P, P)
        The sources' rows are overwritten; −1 for no route.
    hops : int32 array
        The sources' part is overwritten: channels of all routes, pair after pair.
    """
    num_endpoints = len(endpoints)
    switch_image = np.empty(len(symmetry.source_class), np.int32)
    channel_image = np.empty(len(symmetry.channel_source), np.int32)
    preimage = np.empty(num_endpoints, np.int32)
    original_length, first_hop, original_hops = choices.length, choices.first_hop, choices.hops
    for i in range(sources[0], sources[1]):
        q = symmetry.source_class[endpoints[i]]
        fill_source_images(symmetry, endpoints[i], switch_image, channel_image)
        fill_preimages(endpoints, switch_image, preimage)
        next_position = start[i]
        for j in range(num_endpoints):
            original = q * num_endpoints + preimage[j]
            num_hops = original_length[original]  # −1: no route
            lengths[i, j] = num_hops
            route_start = (
                first_hop[original]
                + np.int64(num_hops) * chosen[i * num_endpoints + j if by_pair else original]
            )
            for h in range(num_hops):
                hops[next_position + h] = channel_image[original_hops[route_start + h]]
            next_position += max(num_hops, 0)


@jit
def single_route_load(choices, weight, bins, num_bins):
    """Sum the load of the rows with one route by bin; rows with a choice add nothing.

    Parameters
    ----------
    weight : int64 array, shape (R,)
        Weight of each row's route.
    bins : int32 array
        Bin of every hop in ``choices.hops``: a group of channels whose loads are added up, such as
        all images of a channel.
    num_bins : int

    Returns
    -------
    load : int64 array, shape (B,)
    """
    load = np.zeros(num_bins, np.int64)
    length, num_routes, first_hop = choices.length, choices.routes, choices.first_hop
    for row in range(len(weight)):
        if num_routes[row] == 1:
            for h in range(first_hop[row], first_hop[row] + length[row]):
                load[bins[h]] += weight[row]
    return load

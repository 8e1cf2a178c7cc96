"""Grids by their definition, switch by switch, with nothing but loops and sets."""

from itertools import product


def switches(dims):
    """Coordinates in the order of the original indices: the last coordinate runs fastest."""
    return list(product(*(range(size) for size in dims)))


def step(place, dimension, sign, dims, wrap):
    """The neighbour of `place`, or None at the end of a line."""
    there = list(place)
    there[dimension] += sign
    if not 0 <= there[dimension] < dims[dimension]:
        if not wrap or dims[dimension] < 3:
            return None
        there[dimension] %= dims[dimension]
    return tuple(there)


def channels(dims, wrap, *, failed_switches=(), failed_links=(), nodes=()):
    """(source, target, dimension, sign) of all channels that are left, as coordinates."""
    places = switches(dims)
    gone = {places[s] for s in failed_switches}
    if nodes:
        gone |= set(places) - {places[s] for s in nodes}
    cut = {frozenset((places[a], places[b])) for a, b in failed_links}
    hops = []
    for place in places:
        for sign in (1, -1):
            for dimension in range(len(dims)):
                there = step(place, dimension, sign, dims, wrap)
                if there is None or {place, there} & gone or frozenset((place, there)) in cut:
                    continue
                hops.append((place, there, dimension, sign))
    return hops

"""Routing on whole grids from its definitions, with coordinates, loops and exact fractions.

A hop is (place, dimension, sign). `wrap` says for each dimension whether its lines are rings.
"""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product


def moved(place, dimension, sign, dims):
    there = list(place)
    there[dimension] = (there[dimension] + sign) % dims[dimension]
    return tuple(there)


def ways(a, b, size, ring):
    """Signs and lengths of the ways from a to b on a line or ring of that size."""
    if a == b:
        return []
    if not ring:
        return [(1, b - a)] if b > a else [(-1, a - b)]
    return [(1, (b - a) % size), (-1, (a - b) % size)]


def shortest(a, b, size, ring):
    options = ways(a, b, size, ring)
    least = min((length for _, length in options), default=0)
    return [(sign, length) for sign, length in options if length == least]


def distance(source, target, dims, wrap):
    return sum(
        min((length for _, length in ways(a, b, size, ring)), default=0)
        for a, b, size, ring in zip(source, target, dims, wrap, strict=True)
    )


def closer(place, target, dims, wrap):
    """All hops to a neighbour that is closer."""
    return [
        (place, d, sign)
        for d in range(len(dims))
        for sign, _ in shortest(place[d], target[d], dims[d], wrap[d])
    ]


def even(*places):
    return sum(map(sum, places)) % 2 == 0


def ring_route(place, dimension, there, dims, sign):
    hops = []
    while place[dimension] != there:
        hops.append((place, dimension, sign))
        place = moved(place, dimension, sign, dims)
    return hops, place


def dimension_order(source, target, dims, wrap, order, sign_of=None):
    """The hops of dimension order; half a ring goes up if the coordinates add up to an even sum.

    With `sign_of`, dimension d is crossed in direction ``sign_of[d]`` whatever its length.
    """
    hops, place = [], source
    for d in order:
        options = shortest(place[d], target[d], dims[d], wrap[d])
        if not options:
            continue
        sign = options[0][0]
        if len(options) == 2:
            sign = 1 if even(source, target, place) else -1
        if sign_of is not None:
            sign = sign_of[d]
        more, place = ring_route(place, d, target[d], dims, sign)
        hops += more
    return hops


def dateline(hops, dims, wrap):
    """Class of each hop: 0 up to and with the hop between a ring's ends, 1 behind and without."""
    classes = []
    for i, (place, d, sign) in enumerate(hops):
        rest = [p for p, e, s in hops[i:] if (e, s) == (d, sign) and same_line(p, place, d)]
        edge = dims[d] - 1 if sign > 0 else 0
        classes.append(0 if wrap[d] and any(p[d] == edge for p in rest) else 1)
    return classes


def same_line(a, b, dimension):
    return all(x == y for d, (x, y) in enumerate(zip(a, b, strict=True)) if d != dimension)


def direction_chances(source, target, dims, wrap, local=False):
    """Chance of each tuple of signs under GOAL and RLB: 0 where a dimension is not crossed."""
    choices = []
    for a, b, size, ring in zip(source, target, dims, wrap, strict=True):
        options = ways(a, b, size, ring)
        if len(options) < 2:
            choices.append([(sign, Fraction(1)) for sign, _ in options] or [(0, Fraction(1))])
            continue
        near = min(length for _, length in options)
        if local and 4 * near < size:
            choices.append([(sign, Fraction(int(length == near))) for sign, length in options])
        else:
            # the shorter a way the likelier, in proportion to the length of the other
            choices.append([(sign, Fraction(size - length, size)) for sign, length in options])
    chances = Counter()
    for signs in product(*choices):
        chance = Fraction(1)
        for _, part in signs:
            chance *= part
        if chance:
            chances[tuple(sign for sign, _ in signs)] += chance
    return chances


def minimal_chances(source, target, dims, wrap):
    """Chance of each tuple of signs of a minimal quadrant."""
    signs_of = [
        [sign for sign, _ in shortest(a, b, size, ring)] or [0]
        for a, b, size, ring in zip(source, target, dims, wrap, strict=True)
    ]
    all_signs = list(product(*signs_of))
    return {signs: Fraction(1, len(all_signs)) for signs in all_signs}


def quadrant(source, target, dims, signs):
    """All places of the box from source to target in those directions."""
    lines = []
    for a, b, size, sign in zip(source, target, dims, signs, strict=True):
        line = [a]
        while line[-1] != b:
            line.append((line[-1] + sign) % size)
        lines.append(line)
    return list(product(*lines))


def between_chances(source, target, dims, chances):
    """Chance of each place to be the one between, with those chances of quadrants."""
    chance_of = Counter()
    for signs, chance in chances.items():
        box = quadrant(source, target, dims, signs)
        for place in box:
            chance_of[place] += chance / len(box)
    return chance_of


def rlb_chances(source, target, dims, wrap, orders, local):
    """Chance of each way under RLB, the order of each half drawn from `orders`."""
    chance_of = Counter()
    for signs, chance in direction_chances(source, target, dims, wrap, local).items():
        box = quadrant(source, target, dims, signs)
        for place, first, second in product(box, orders, orders):
            way = dimension_order(source, place, dims, wrap, first, signs)
            way += dimension_order(place, target, dims, wrap, second, signs)
            chance_of[tuple(way)] += chance / len(box) / len(orders) ** 2
    return chance_of


def rdr_chances(source, target, dims, wrap):
    """Chance of each way under Random Distance Routing without escapes."""
    if source == target:
        return {(): Fraction(1)}
    chance_of = Counter()
    hops = closer(source, target, dims, wrap)
    for place, d, sign in hops:
        there = moved(place, d, sign, dims)
        for way, chance in rdr_chances(there, target, dims, wrap).items():
            chance_of[((place, d, sign), *way)] += chance / len(hops)
    return chance_of


def drawn_orders(name, dimensions):
    natural = tuple(range(dimensions))
    if name == "random":
        return list(permutations(natural))
    return [natural[first:] + natural[:first] for first in natural]

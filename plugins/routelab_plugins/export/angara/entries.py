"""Entries of an Angara routing table: first step, direction bits, hops, last step.

With n dimensions the directions are numbered 0..2n-1 in the hardware's order, the positive ones
first. `entry_of_route` makes an entry of a route, `steps` the route of an entry; neither uses the
other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from routelab.api import InputError

LETTERS = "XYZK"
NONE = "-"
_HOPS = re.compile(r"0|[+-][1-9][0-9]{0,8}")
_BIT = re.compile(rf"[+-][{LETTERS}]")


@dataclass(frozen=True)
class RouteEntry:
    """The entry of a node's table for one destination.

    Attributes
    ----------
    first : int or None
        Direction of the first step, a positive one.
    bits : frozenset of int
        Directions that the ordered part may use, at most one per dimension.
    hops : tuple of int
        Hops of the ordered part along each dimension, with the sign of their direction.
    last : int or None
        Direction of the last step, a negative one.
    """

    first: int | None
    bits: frozenset[int]
    hops: tuple[int, ...]
    last: int | None


def direction_names(n: int) -> list[str]:
    """Return ``+X``, ``+Y``, ... ``-X``, ``-Y``, ... in the hardware's order."""
    return [sign + letter for sign in "+-" for letter in LETTERS[:n]]


def entry_of_route(route: Sequence[int], dims: Sequence[int]) -> RouteEntry | str:
    """Return the entry of a route, with as few extra steps as possible, or why it has none.

    Parameters
    ----------
    route : sequence of int
        Directions of its hops.
    dims : sequence of int
        Sizes of the dimensions.
    """
    n = len(dims)
    positive = bool(route) and route[0] < n
    negative = bool(route) and route[-1] >= n
    reason: str | None = None
    # prefer a first step to a last one
    for first, last in ((0, 0), (1, 0), (0, 1), (1, 1)):
        extra = first + last
        if first > positive or last > negative or (extra and len(route) <= extra):
            continue
        ordered = route[first : len(route) - last]
        reason = _violation(ordered, dims)
        if reason is None:
            hops = [0] * n
            for direction in ordered:
                hops[direction % n] += 1 if direction < n else -1
            return RouteEntry(
                route[0] if first else None,
                frozenset(ordered),
                tuple(hops),
                route[-1] if last else None,
            )
    return str(reason)


def _violation(route: Sequence[int], dims: Sequence[int]) -> str | None:
    """Return why directions are not an ordered part: order, direction bits, or a whole ring."""
    n = len(dims)
    names = direction_names(n)
    for before, after in pairwise(route):
        if before > after:
            return f"{names[before]} before {names[after]}"
    for direction in route:
        if (direction + n) % (2 * n) in route:
            return f"both {names[direction]} and {names[(direction + n) % (2 * n)]}"
        size = dims[direction % n]
        if route.count(direction) >= size:
            return f"{route.count(direction)} hops {names[direction]}, of {size} nodes in a line"
    return None


def steps(entry: RouteEntry) -> Iterator[int]:
    """Iterate over the directions of hops: first step, hops in the hardware's order, last step."""
    n = len(entry.hops)
    if entry.first is not None:
        yield entry.first
    for direction in range(2 * n):
        count = entry.hops[direction % n]
        if direction in entry.bits:
            yield from [direction] * abs(count)
    if entry.last is not None:
        yield entry.last


def entry_text(entry: RouteEntry) -> str:
    """Return ``FIRST BITS HOPS LAST``, such as ``- +X-Y +2,-1 -``."""
    names = direction_names(len(entry.hops))
    bits = "".join(names[direction] for direction in sorted(entry.bits))
    hops = ",".join(f"{count:+d}" if count else "0" for count in entry.hops)
    first, last = (NONE if step is None else names[step] for step in (entry.first, entry.last))
    return f"{first} {bits or NONE} {hops} {last}"


def parse_entry(words: Sequence[str], dims: Sequence[int]) -> RouteEntry:
    """Parse an entry of four words.

    Raises
    ------
    InputError
        If the hardware could not follow the entry.
    """
    n = len(dims)
    if len(words) != 4:
        raise InputError(f"{len(words)} words, expected FIRST BITS HOPS LAST")
    first = _extra_step(words[0], range(n), "first step", n)
    last = _extra_step(words[3], range(n, 2 * n), "last step", n)
    hops = _read_hops(words[2], dims)
    bits = _read_bits(words[1], n)
    used = {d if count > 0 else d + n for d, count in enumerate(hops) if count}
    if bits != used:
        names = direction_names(n)
        going = "".join(names[direction] for direction in sorted(used)) or "nowhere"
        raise InputError(f"the direction bits are {words[1]}, and the hops {words[2]} go {going}")
    if not used and (first is None or last is not None):
        raise InputError("there are no hops between first and last step")
    return RouteEntry(first, frozenset(bits), hops, last)


def _extra_step(word: str, directions: range, what: str, n: int) -> int | None:
    if word == NONE:
        return None
    names = direction_names(n)
    if word not in names or names.index(word) not in directions:
        may = ", ".join(names[direction] for direction in directions)
        raise InputError(f"the {what} is {word}, expected {NONE} or one of {may}")
    return names.index(word)


def _read_bits(word: str, n: int) -> set[int]:
    """Read the directions of a list in ascending order, such as ``+X-Y``."""
    names = direction_names(n)
    bits = [] if word == NONE else _BIT.findall(word)
    numbers = [names.index(name) for name in bits if name in names]
    ascending = all(before < after for before, after in pairwise(numbers))
    if word != NONE and ("".join(names[d] for d in numbers) != word or not ascending or not word):
        raise InputError(
            f"{word!r} is not a list of direction bits; expected {NONE}, or for example +X-Y"
        )
    return set(numbers)


def _read_hops(word: str, dims: Sequence[int]) -> tuple[int, ...]:
    """Read the signed hops along each dimension, such as ``+1,0,-2``."""
    counts = word.split(",")
    if len(counts) != len(dims) or not all(_HOPS.fullmatch(count) for count in counts):
        example = ",".join(["+1", *["0"] * (len(dims) - 1)])
        raise InputError(
            f"{word!r} is not a list of hops along {len(dims)} dimensions, such as {example}"
        )
    hops = tuple(map(int, counts))
    for letter, count, size in zip(LETTERS, hops, dims, strict=False):
        if abs(count) >= size:
            raise InputError(f"{count:+d} hops along {letter}, which has {size} nodes in a line")
    return hops

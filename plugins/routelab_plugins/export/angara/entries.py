"""Entries of an Angara routing table: first step, direction bits, hops, last step.

With n dimensions the directions are numbered 0..2n-1 in the hardware's order, the positive ones
first: in two dimensions +X is 0, +Y 1, -X 2 and -Y 3. `entry_of_route` makes an entry of a route,
`entry_directions` the route of an entry; neither uses the other.
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
    """Return the entry of a route, or a text that says why the hardware cannot take this route.

    The entry has as few extra steps, the first and the last one, as possible.

    Parameters
    ----------
    route : sequence of int
        Directions of its hops.
    dims : sequence of int
        Sizes of the dimensions.
    """
    n = len(dims)
    starts_positive = bool(route) and route[0] < n
    ends_negative = bool(route) and route[-1] >= n
    violation: str | None = None
    # Of the hops, 0 or 1 are the first step and 0 or 1 the last step. Try without extra steps, with
    # one, with both. If either step alone makes the route legal, the first step is preferred. The
    # reason that is returned is that of the last try. The first one is always made.
    for num_first, num_last in ((0, 0), (1, 0), (0, 1), (1, 1)):
        if (num_first and not starts_positive) or (num_last and not ends_negative):
            continue
        num_extra = num_first + num_last
        if num_extra and len(route) <= num_extra:
            continue  # no hop would be left for the ordered part
        ordered = route[num_first : len(route) - num_last]
        violation = _find_violation(ordered, dims)
        if violation is None:
            hops = [0] * n
            for direction in ordered:
                hops[direction % n] += 1 if direction < n else -1
            return RouteEntry(
                first=route[0] if num_first else None,
                bits=frozenset(ordered),
                hops=tuple(hops),
                last=route[-1] if num_last else None,
            )
    return str(violation)


def _find_violation(route: Sequence[int], dims: Sequence[int]) -> str | None:
    """Return why hops cannot be the ordered part of a route; None if they can.

    They must be in the order of directions, not use both directions of a dimension, and not lead
    around a whole ring: in a ring of 4 nodes there are at most 3 hops.
    """
    n = len(dims)
    names = direction_names(n)
    for before, after in pairwise(route):
        if before > after:
            return f"{names[before]} before {names[after]}"
    for direction in route:
        opposite = (direction + n) % (2 * n)
        if opposite in route:
            return f"both {names[direction]} and {names[opposite]}"
        size = dims[direction % n]
        if route.count(direction) >= size:
            return f"{route.count(direction)} hops {names[direction]}, of {size} nodes in a line"
    return None


def entry_directions(entry: RouteEntry) -> Iterator[int]:
    """Yield the direction of each hop: first step, hops in the hardware's order, last step."""
    n = len(entry.hops)
    if entry.first is not None:
        yield entry.first
    for direction in range(2 * n):
        if direction in entry.bits:
            num_hops = abs(entry.hops[direction % n])
            yield from [direction] * num_hops
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
    first_word, bits_word, hops_word, last_word = words
    first = _read_extra_step(first_word, range(n), "first step", n)
    last = _read_extra_step(last_word, range(n, 2 * n), "last step", n)
    hops = _read_hops(hops_word, dims)
    bits = _read_bits(bits_word, n)
    hop_directions = {d if count > 0 else d + n for d, count in enumerate(hops) if count}
    if bits != hop_directions:
        names = direction_names(n)
        hop_text = "".join(names[direction] for direction in sorted(hop_directions)) or "nowhere"
        raise InputError(
            f"the direction bits are {bits_word}, and the hops {hops_word} go {hop_text}"
        )
    # The first step may be the whole route, though `entry_of_route` would make it an ordered hop. A
    # last step must follow hops of the ordered part.
    if not hop_directions and (first is None or last is not None):
        raise InputError("there are no hops between first and last step")
    return RouteEntry(first, frozenset(bits), hops, last)


def _read_extra_step(word: str, directions: range, noun: str, n: int) -> int | None:
    """Read a first or last step, which may have one of `directions`; None if there is none."""
    if word == NONE:
        return None
    names = direction_names(n)
    if word not in names or names.index(word) not in directions:
        allowed = ", ".join(names[direction] for direction in directions)
        raise InputError(f"the {noun} is {word}, expected {NONE} or one of {allowed}")
    return names.index(word)


def _read_bits(word: str, n: int) -> set[int]:
    """Read the directions of a list in ascending order, such as ``+X-Y``."""
    names = direction_names(n)
    if word == NONE:
        return set()
    directions = [names.index(name) for name in _BIT.findall(word) if name in names]
    # `findall` skips what is no direction, so the word may have more than these
    is_complete = word == "".join(names[direction] for direction in directions)
    is_ascending = all(before < after for before, after in pairwise(directions))
    if not (word and is_complete and is_ascending):
        raise InputError(
            f"{word!r} is not a list of direction bits; expected {NONE}, or for example +X-Y"
        )
    return set(directions)


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

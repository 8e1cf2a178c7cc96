"""The Angara hardware's rules as automata over directions.

With n dimensions the directions are numbered 0..2n-1 in the hardware's order, the positive ones
first. Each hardware rule is one function here; `literal` builds the automaton of section 3.1 of the
paper, `compact` an equivalent one whose states differ in their legal continuations.
"""

from __future__ import annotations

from itertools import product

from routelab.toolkit import DirectionAutomaton, add_ordered_moves

Bits = tuple[int, ...]
"""Direction bits: +1, −1 or 0 (not used) for each dimension."""


def keeps_order(before: int, after: int) -> bool:
    """Whether a turn keeps direction order: directions ascend, and each may repeat."""
    return before <= after


def bits_allow(bits: Bits, direction: int) -> bool:
    """Whether direction bits allow a direction: no dimension is used both ways."""
    n = len(bits)
    sign = 1 if direction < n else -1
    return bits[direction % n] in (0, sign)


def with_bit(bits: Bits, direction: int) -> Bits:
    """Return the direction bits after a hop in `direction`."""
    n = len(bits)
    dimension, sign = direction % n, 1 if direction < n else -1
    return (*bits[:dimension], sign, *bits[dimension + 1 :])


def last_direction(bits: Bits) -> int:
    """Return the last direction of an ordered direction list, which its set determines."""
    n = len(bits)
    return max(d for d in range(2 * n) if bits[d % n] == (1 if d < n else -1))


def may_be_first_step(direction: int, n: int) -> bool:
    """Whether a direction may be a first step: a non-standard first hop, positive."""
    return direction < n


def may_be_last_step(direction: int, n: int) -> bool:
    """Whether a direction may be a last step: a non-standard last hop, negative."""
    return direction >= n


def needs_permission(before: int, after: int, n: int) -> bool:
    """Whether a turn against the order uses a first or last step, so that it must be safe.

    Both directions positive (out of a first step) or both negative (into a last step).
    """
    return before > after and (before < n) == (after < n)


def literal(n: int) -> DirectionAutomaton:
    """Build the paper's vertices: begin, n first steps, 3^n − 1 direction sets, n last steps.

    With the end vertex, which is a mark here, C_V(n) = 3^n + 2n + 1 a node.
    """
    automaton = DirectionAutomaton()
    begin = automaton.state("begin")
    first = {d: automaton.state(f"FS{d}") for d in range(2 * n) if may_be_first_step(d, n)}
    empty = (0,) * n
    sets = {
        bits: automaton.state(f"dirbit{bits}")
        for bits in product((0, 1, -1), repeat=n)
        if bits != empty
    }
    last = {d: automaton.state(f"LS{d}") for d in range(2 * n) if may_be_last_step(d, n)}
    for d in range(2 * n):
        automaton.move(begin, d, sets[with_bit(empty, d)])
        if d in first:
            automaton.move(begin, d, first[d])
    for a, state in first.items():
        for d in range(2 * n):
            if d > a:
                automaton.move(state, d, sets[with_bit(empty, d)])
            elif needs_permission(a, d, n):
                automaton.move(state, d, sets[with_bit(empty, d)], permitted_after=a)
    for bits, state in sets.items():
        a = last_direction(bits)
        for d in range(2 * n):
            if keeps_order(a, d) and bits_allow(bits, d):
                automaton.move(state, d, sets[with_bit(bits, d)])
            if d in last and d > a:
                automaton.move(state, d, last[d])
            elif d in last and needs_permission(a, d, n):
                automaton.move(state, d, last[d], permitted_after=a)
    return automaton


def compact(n: int, *, bits: bool) -> DirectionAutomaton:
    """Build a deterministic automaton of the same shortest routes.

    A first hop in a positive direction is both a first step and a standard hop; later hops decide.
    The direction bits do not count a first step, so reading a hop as one is the wider choice,
    except where the packet continues in the same direction.

    Parameters
    ----------
    bits : bool
        Keep the direction bits; see `routelab.toolkit.add_ordered_moves`.

    Notes
    -----
    States a node: with bits 2(2^n − 1) + n + 2, without 3n + 2; with the end vertex one more.
    """
    automaton = DirectionAutomaton()
    none: frozenset[int] = frozenset()
    begin = automaton.state("begin")
    first = {d: automaton.state(f"first {d}") for d in range(2 * n) if may_be_first_step(d, n)}
    standard = add_ordered_moves(automaton, n, bits=bits)
    last = automaton.state("last")
    for d in range(2 * n):
        automaton.move(begin, d, first[d] if d in first else standard[d, none])
    for a, state in first.items():
        for d in range(2 * n):
            if keeps_order(a, d) and d != a + n:
                automaton.move(state, d, standard[d, none])
            elif needs_permission(a, d, n):
                automaton.move(state, d, standard[d, none], permitted_after=a)
    for (a, used), state in standard.items():
        for d in filter(lambda d: may_be_last_step(d, n), range(2 * n)):
            if bits and d > a and d != a + n and d - n in used:
                # only as a last step, which the direction bits do not count
                automaton.move(state, d, last)
            elif needs_permission(a, d, n):
                automaton.move(state, d, last, permitted_after=a)
    return automaton

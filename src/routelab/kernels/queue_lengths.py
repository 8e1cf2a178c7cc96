"""Queues that packets compare when they choose between routes."""

import numpy as np

from routelab.kernels.hops import (
    ESCAPE,
    PHASE,
    channel_flits,
    class_flits,
    pick,
    waiting_flits,
)
from routelab.kernels.jit import inline

QUEUES = ("output", "channel", "class", "waiting")
"""Queues of a channel, whose lengths packets may compare; see `queue_flits`."""
_OUTPUT, _CHANNEL, _CLASS, _WAITING = range(4)


@inline
def queue_flits(tables, queues, kind, channel, phase, vc):
    """Return the length of one of the `QUEUES` of a channel, in flits.

    Parameters
    ----------
    kind : int
        Index in `QUEUES`. ``waiting``: flits that wait for the channel inside the switch;
        ``channel``: flits in the buffers of all its virtual channels and on the way there, as its
        credits show; ``output``: both together; ``class``: flits in the buffers of one class of
        virtual channels and on the way there.
    channel : int
    phase, vc : int
        The class; see `routelab.kernels.hops.class_flits`.
    """
    flits = np.int64(0)
    if kind == _CLASS:
        flits = class_flits(tables, queues, channel, phase, vc)
    if kind in (_OUTPUT, _CHANNEL):
        flits += channel_flits(tables, queues, channel)
    if kind in (_OUTPUT, _WAITING):
        flits += waiting_flits(tables, queues, channel)
    return flits


@inline
def shortest_queue(tables, packets, packet, queues, kind, count, random, out):
    """Return the candidate with the shortest queue, and the length of the queue in flits.

    Escapes are considered only if all candidates are escapes. Ties are broken at random.

    Parameters
    ----------
    kind : int
        Index in `QUEUES`.
    count : int
        Candidates in the first rows of `out`.
    random : RandomWord

    Returns
    -------
    row : int
        Row of the candidate in `out`; −1 if there is none.
    flits : int
    """
    row, shortest, only_escapes = np.int64(-1), np.int64(-1), True
    # `pick` needs at least one outcome, also if there is no candidate.
    start = pick(random, max(count, 1))
    for shift in range(count):
        # Ties: look at the candidates in a circle that begins at a random one, and keep the first
        # with the shortest queue. Without a modulo, which would take longer than the rest.
        k = start + shift if start + shift < count else start + shift - count
        is_escape = out[k, 2] >= ESCAPE
        if is_escape and not only_escapes:
            continue
        flits = queue_flits(tables, queues, kind, out[k, 0], packets[packet, PHASE], out[k, 1])
        # The first candidate that is no escape replaces any escape, however long its queue.
        if row < 0 or flits < shortest or (only_escapes and not is_escape):
            row, shortest, only_escapes = np.int64(k), flits, is_escape
    return row, shortest

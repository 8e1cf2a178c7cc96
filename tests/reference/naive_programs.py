"""Programs of ranks worked through one operation at a time, without any time in them."""

from __future__ import annotations

from collections import deque

from routelab.api import ALL, IRECV, ISEND, RECV, SEND, WAIT


def spread(blocks, *, synchronous):
    """What everybody can know at the end, and how many rounds of messages it takes.

    Parameters
    ----------
    blocks : sequence of Block
        Worked through by every rank, one after the other.
    synchronous : bool
        Whether a send, or the wait for it, lasts until its receive has been posted.

    Returns
    -------
    known : list of set of int
        Ranks whose data can have reached each rank, itself included.
    rounds : int
        Messages in the longest chain of which each one needs that the one before has been sent
        or received.
    """
    ranks = blocks[0].ranks
    known, depth = [{rank} for rank in range(ranks)], [0] * ranks
    run = [_rank(rank, blocks, known, depth, synchronous) for rank in range(ranks)]
    sent, posted = {}, {}
    wishes = [next(steps, None) for steps in run]
    moved = True
    while moved:
        moved = False
        for rank in range(ranks):
            while wishes[rank] is not None and wishes[rank](sent, posted):
                wishes[rank] = next(run[rank], None)
                moved = True
    stuck = [rank for rank, wish in enumerate(wishes) if wish is not None]
    assert not stuck, f"ranks {stuck} wait for ever"
    return known, max(depth)


def _rank(rank, blocks, known, depth, synchronous):
    """Yields one condition after the other; each tells whether the rank can go on."""
    sends_to, receives_from = {}, {}
    for block in blocks:
        requests = deque()
        for place in range(block.start[rank], block.start[rank + 1]):
            kind, peer, tag = (int(part[place]) for part in (block.kind, block.peer, block.tag))
            if kind in (SEND, ISEND):
                number = sends_to[peer, tag] = sends_to.get((peer, tag), 0) + 1
                message = rank, peer, tag, number
                yield _sends(message, rank, known, depth)
                if kind == SEND and synchronous:
                    yield _has_been_posted(message)
                if kind == SEND:
                    depth[rank] += 1
                else:
                    requests.append((message, depth[rank] + 1))
            elif kind in (RECV, IRECV):
                number = receives_from[peer, tag] = receives_from.get((peer, tag), 0) + 1
                yield _posts((peer, rank, tag, number))
                if kind == RECV:
                    depth[rank] += 1
                    yield _receives((peer, rank, tag, number), rank, known, depth)
                else:
                    requests.append(((peer, rank, tag, number), None))
            elif kind == WAIT:
                count = len(requests) if peer == ALL else 1
                for _ in range(count):
                    which = 0 if peer == ALL else peer
                    message, chain = requests[which]
                    del requests[which]
                    if chain is None:
                        yield _receives(message, rank, known, depth)
                        continue
                    depth[rank] = max(depth[rank], chain)
                    if synchronous:
                        yield _has_been_posted(message)


def _sends(message, rank, known, depth):
    def act(sent, posted):
        sent[message] = set(known[rank]), depth[rank] + 1
        return True

    return act


def _posts(message):
    def act(sent, posted):
        posted[message] = True
        return True

    return act


def _has_been_posted(message):
    return lambda sent, posted: message in posted


def _receives(message, rank, known, depth):
    def act(sent, posted):
        if message not in sent:
            return False
        carried, chain = sent[message]
        known[rank] |= carried
        depth[rank] = max(depth[rank], chain)
        return True

    return act

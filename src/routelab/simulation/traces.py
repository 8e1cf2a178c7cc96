"""Time-independent traces of schedules, as SimGrid's SMPI replays them.

One text a rank, one action a line: ``0 isend 3 17 4096`` (rank, action, peer, tag, bytes). The
format is that of the SimGrid documentation, "Replaying MPI traces".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from routelab.api.workload import ALL, COMPUTE, IRECV, ISEND, RECV, SEND, WAIT, Block
from routelab.simulation.schedule import Schedule

_ACTIONS = {SEND: "send", ISEND: "isend", RECV: "recv", IRECV: "irecv"}


class TraceWriter:
    """Writes the traces of a schedule, or of its beginning.

    Every message of a block has a tag of its own among those from its source to its target, so that
    a receive meets the send that the schedule says, and a wait finds its request.

    Parameters
    ----------
    schedule : Schedule
    compute : bool
        Whether computing is written; without it takes no time.
    """

    def __init__(self, schedule: Schedule, *, compute: bool) -> None:
        self._schedule = schedule
        self._texts: list[list[bytes]] = []
        first = 0
        for block in schedule.blocks:
            lines, first = _lines(block, first, compute)
            self._texts.append([text.encode() for text in lines])

    def rank(self, rank: int, places: int) -> Iterator[bytes]:
        """The parts of a rank's trace, for the blocks on the first places of the tape."""
        yield b"%d init\n" % rank
        for block in self._schedule.tape[:places].tolist():
            yield self._texts[block][rank]
        yield b"%d finalize\n" % rank


def _lines(block: Block, first: int, compute: bool) -> tuple[list[str], int]:
    """The actions of every rank as text, with tags from `first` on; and the first unused tag."""
    kinds, peers = block.kind.tolist(), block.peer.tolist()
    amounts, meets = block.amount.tolist(), block.receive_of.tolist()
    ranks = block.rank_of().tolist()
    counted: Counter[tuple[int, int]] = Counter()
    tags: dict[int, int] = {}
    for send, receive in enumerate(meets):
        if receive >= 0:
            pair = ranks[send], peers[send]
            tags[send] = tags[receive] = first + counted[pair]
            counted[pair] += 1
    texts = []
    for rank in range(block.ranks):
        lines: list[str] = []
        requests: list[str] = []
        for k in range(int(block.start[rank]), int(block.start[rank + 1])):
            kind, peer = kinds[k], peers[k]
            if kind == COMPUTE:
                if compute:
                    lines.append(f"{rank} compute {amounts[k]!r}")
            elif kind == WAIT and peer == ALL:
                if requests:
                    lines.append(f"{rank} waitall")
                requests = []
            elif kind == WAIT:
                lines.append(f"{rank} wait {requests.pop(peer)}")
            else:
                lines.append(f"{rank} {_ACTIONS[kind]} {peer} {tags[k]} {int(amounts[k])}")
                if kind in (ISEND, IRECV):
                    source, target = (rank, peer) if kind == ISEND else (peer, rank)
                    requests.append(f"{source} {target} {tags[k]}")
        texts.append("".join(f"{line}\n" for line in lines))
    return texts, first + max(counted.values(), default=0)

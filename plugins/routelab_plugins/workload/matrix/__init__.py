"""matrix: messages of a matrix in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import override

from routelab.api import (
    Block,
    Job,
    Loop,
    Parameters,
    Program,
    WorkloadPlugin,
    parameter,
)
from routelab.api.topology import Int64Array
from routelab.toolkit import BlockBuilder, read_messages, unread_columns


class MatrixWorkloadParameters(Parameters):
    """File of the messages, and number of repetitions."""

    file: Path = parameter(
        description="CSV file: columns source (or src), target (or dst), bytes and, if there are "
        "several, messages; or, without a header, a square matrix of bytes with a line for each "
        "sender"
    )
    iterations: int = parameter(
        1, ge=1, le=10**6, description="Number of times that all messages are sent"
    )


class MatrixWorkload(WorkloadPlugin):
    """In round k every pair sends its k-th message, if it has one.

    All ranks start the messages of a round together, and wait for all of them before the next
    round. The bytes of a pair are divided evenly among its messages; the remainder is in the first.
    A job may have more ranks than the file names: these are silent.
    """

    name = "matrix"
    summary = "Messages and bytes between ranks from a CSV file"
    Parameters = MatrixWorkloadParameters

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.file]

    def supports(self, job: Job) -> str | None:
        """Return why the job has too few ranks or the file no messages; None if neither is so.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line.
        """
        messages, _ = read_messages(self.parameters.file)
        if len(messages) > job.ranks:
            return (
                f"{self.parameters.file} has {len(messages)} ranks, and the job {job.ranks}; take "
                f"{len(messages)} or more"
            )
        return None if messages.any() else f"in {self.parameters.file} no rank sends a message"

    def program(self, job: Job) -> Program:
        """Return the rounds, `iterations` times in all; equal rounds form a loop.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line.
        """
        messages, bytes_ = read_messages(self.parameters.file)
        unread = unread_columns(self.parameters.file)
        # 1. Each pair of ranks with its number of messages and its bytes. A message has the same
        #    size as the others of its pair, but the first also has the remainder.
        source, target = np.nonzero(messages)
        num_messages, total = messages[source, target], bytes_[source, target]
        size = total // num_messages
        first_size = total - size * (num_messages - 1)
        # 2. The first round has a message of every pair. Later rounds are equal until a pair has
        #    sent its last message, so a loop ends with each different number of messages. Pairs
        #    with 2, 5 and 5 messages: 1 round of all three, 1 more of all three, and 3 of two.
        rounds: list[Block | Loop] = [_round_block(job.ranks, source, target, first_size)]
        rounds_done = 1
        for last_round in np.unique(num_messages[num_messages > 1]).tolist():
            still_sends = num_messages >= last_round
            block = _round_block(
                job.ranks, source[still_sends], target[still_sends], size[still_sends]
            )
            rounds.append(Loop((block,), last_round - rounds_done))
            rounds_done = last_round
        return Program(
            job.ranks,
            (Loop(tuple(rounds), self.parameters.iterations),),
            convention=f"by rank, the messages of {self.parameters.file.name}: in each round one "
            "of every pair that has messages left, all together; including messages to itself"
            + (f"; {unread}" if unread else ""),
        )


def _round_block(ranks: int, source: Int64Array, target: Int64Array, size: Int64Array) -> Block:
    """Return a round of simultaneous messages, one from each `source` to its `target`.

    Rank r posts receives from r, r + 1, r + 2, ... and then sends to r, r - 1, r - 2, ..., modulo
    the number of ranks.
    """
    # Sorting by the distance from target up to source gives both orders. The sort is stable, so
    # that messages at equal distances stay in the order of the arguments.
    by_distance = np.argsort((source - target) % ranks, kind="stable")
    source, target, size = source[by_distance], target[by_distance], size[by_distance]
    builder = BlockBuilder(ranks)
    builder.ireceive(target, source, size)
    builder.isend(source, target, size)
    active_ranks = np.unique(np.concatenate((source, target)))
    return builder.wait(active_ranks).build()

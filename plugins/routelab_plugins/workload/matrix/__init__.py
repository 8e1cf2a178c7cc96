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
        """Require a rank for every rank of the file, and at least one sender.

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
            As `supports`.
        """
        messages, bytes_ = read_messages(self.parameters.file)
        unread = unread_columns(self.parameters.file)
        source, target = np.nonzero(messages)
        count, total = messages[source, target], bytes_[source, target]
        size = total // count
        # the first round has a message of every pair, with the remainder of its bytes
        rounds: list[Block | Loop] = [_block(job.ranks, source, target, total - size * (count - 1))]
        rounds_done = 1
        for last_round in np.unique(count[count > 1]).tolist():
            more = count >= last_round
            block = _block(job.ranks, source[more], target[more], size[more])
            rounds.append(Loop((block,), last_round - rounds_done))
            rounds_done = last_round
        return Program(
            job.ranks,
            (Loop(tuple(rounds), self.parameters.iterations),),
            convention=f"by rank, the messages of {self.parameters.file.name}: in each round one "
            "of every pair that has messages left, all together; including messages to itself"
            + (f"; {unread}" if unread else ""),
        )


def _block(ranks: int, source: Int64Array, target: Int64Array, size: Int64Array) -> Block:
    """Build a round of simultaneous messages; ranks post receives upwards, sends downwards."""
    upwards = np.argsort((source - target) % ranks, kind="stable")
    builder = BlockBuilder(ranks)
    builder.ireceive(target[upwards], source[upwards], size[upwards])
    builder.isend(source[upwards], target[upwards], size[upwards])
    return builder.wait(np.unique(np.concatenate((source, target)))).build()

"""Wrong workloads; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from right import RightWorkload

from routelab.api import Block, Collective, Job, Loop, Program
from routelab.toolkit import BlockBuilder


class OneRankTooMany(RightWorkload):
    name = "one-rank-too-many"
    caught = "result", "the program is for 3 ranks, the job has 2"

    def program(self, job):
        return super().program(Job(job.ranks + 1))


class NobodyReceives(RightWorkload):
    name = "nobody-receives"
    caught = "result", "there are 1 more sends than receives"

    def program(self, job):
        return Program(job.ranks, (BlockBuilder(job.ranks).send(0, 1, 8).build(),), "one way")


class Unmatched(RightWorkload):
    name = "unmatched"
    caught = "result", "Block.create refuses it: block: peer names a rank that does not exist"

    def ring(self, job):
        right = super().ring(job)
        return replace(right, peer=right.peer + np.int32(job.ranks))


class OtherReceive(RightWorkload):
    name = "other-receive"
    caught = "result", "receive_of is not in the order of create()"

    def ring(self, job):
        right = super().ring(job)
        wrong = right.receive_of.copy()
        wrong[wrong >= 0] = wrong.max()
        wrong.flags.writeable = False
        return replace(right, receive_of=wrong)


class WithoutWords(RightWorkload):
    name = "without-words"
    caught = "convention", "the convention is ''"

    def program(self, job):
        return replace(super().program(job), convention="")


class NothingTimed(RightWorkload):
    name = "nothing-timed"
    caught = "timed", "the timed part is empty"

    def program(self, job):
        right = super().program(job)
        return replace(right, before=right.timed, timed=(Loop((), 3),))


class RootOutside(RightWorkload):
    name = "root-outside"
    caught = "calls", "bcast: root 2 is outside of a group"

    def program(self, job):
        right = super().program(job)
        return replace(right, after=(Collective("bcast", 8, root=job.ranks),))


class ReceivesFirst(RightWorkload):
    name = "receives-first"
    caught = "ends", "ranks wait for each other forever: 0, 1"

    def ring(self, job) -> Block:
        at = np.arange(job.ranks)
        builder = BlockBuilder(job.ranks).receive(at, at - 1 + job.ranks * (at == 0), 8)
        return builder.send(at, (at + 1) % job.ranks, 8).build()

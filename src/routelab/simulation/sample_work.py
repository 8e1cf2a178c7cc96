"""Small work and short settings, to compile and check engines without other plugins."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from routelab.api import (
    Collective,
    Demand,
    EnginePlugin,
    Job,
    Loop,
    Program,
    Topology,
    TrafficPlugin,
    WorkloadPlugin,
)
from routelab.toolkit import BlockBuilder

MESSAGE_BYTES, NUM_OPERATIONS, ROUNDS = 1e5, 1e3, 2
"""Of `RingWorkload`: size of each message, operations that each rank computes after it, and number
of messages that each rank sends."""


class UniformTraffic(TrafficPlugin):
    """Uniform traffic."""

    name = "everywhere"
    summary = "Every terminal sends to all others equally"

    @override
    def demand(self, topology: Topology, seed: int) -> Demand:
        return Demand.uniform(topology, self.summary)


class RingWorkload(WorkloadPlugin):
    """Every rank sends to the next one and computes, then all meet at a barrier; repeated."""

    name = "ring"
    summary = "Every rank sends to the next one"

    @override
    def program(self, job: Job) -> Program:
        ranks = np.arange(job.ranks)
        builder = BlockBuilder(job.ranks)
        builder.send_receive(
            ranks,
            to=(ranks + 1) % job.ranks,
            bytes_=MESSAGE_BYTES,
            source=(ranks - 1) % job.ranks,
        )
        builder.compute(ranks, operations=NUM_OPERATIONS)
        steps = (Loop((builder.build(), Collective("barrier")), ROUNDS),)
        return Program(job.ranks, steps, convention=self.summary)


def trial_work(engine: EnginePlugin) -> TrafficPlugin | WorkloadPlugin:
    """Return the work to try an engine with."""
    return UniformTraffic() if engine.work == "traffic" else RingWorkload()


def brief_engine(engine: EnginePlugin) -> EnginePlugin:
    """Return a copy of the engine with its `brief` settings, for a short run.

    Required parameters keep their values, because they have no default; others that `brief` does
    not name get their defaults.
    """
    model = type(engine).Parameters
    required = {
        name: getattr(engine.parameters, name)
        for name, field in model.model_fields.items()
        if field.is_required()
    }
    return type(engine)(**{**required, **engine.brief})

"""Parameters of routings that choose between routes by queue length, such as UGAL."""

from __future__ import annotations

from typing import Literal

from routelab.api.parameters import Parameters, parameter
from routelab.kernels.queue_lengths import QUEUES


class QueueParameters(Parameters):
    """Which queues are compared, and how much shorter those of a longer route must be."""

    threshold: int = parameter(
        0,
        ge=0,
        le=1 << 20,
        description="Added to the side of the longer route, in flits x hops, or in flits if all "
        "queues of a route count: larger values keep more packets on the shortest route",
    )
    queue: Literal["output", "channel", "class", "waiting"] = parameter(
        "output",
        description="Queue that is compared: what waits inside the switch for a channel and what "
        "is behind the channel; only behind it; only in its class of virtual channels; only inside",
    )

    @property
    def queue_number(self) -> int:
        """Number of `queue` among `routelab.kernels.queue_lengths.QUEUES`."""
        return QUEUES.index(self.queue)

    @property
    def counts_waiting(self) -> bool:
        """Whether a program needs `HopProgram.waiting`."""
        return self.queue in ("output", "waiting")

"""Upper bounds of throughput for any routing, each with a certificate.

`bound_throughput` bounds the load that any routing can sustain, and the mean accepted load at
offered loads beyond. `sustained_from_weights` and `accepted_from_weights` check the certificates.
"""

from routelab.metrics.bounds.throughput.certificate import (
    ChannelWeights,
    accepted_from_weights,
    sustained_from_weights,
    terminal_limit,
)
from routelab.metrics.bounds.throughput.problem import Traffic
from routelab.metrics.bounds.throughput.search import (
    AcceptedBound,
    ThroughputBound,
    bound_channels,
    bound_throughput,
)

__all__ = [
    "AcceptedBound",
    "ChannelWeights",
    "ThroughputBound",
    "Traffic",
    "accepted_from_weights",
    "bound_channels",
    "bound_throughput",
    "sustained_from_weights",
    "terminal_limit",
]

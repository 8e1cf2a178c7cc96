"""Collective calls as messages: the published algorithms, and the choice among them.

R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of Collective Communication Operations in
MPICH*, International Journal of High Performance Computing Applications 19(1), 2005,
doi 10.1177/1094342005051521; J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, *Efficient
Algorithms for All-to-All Communications in Multiport Message-Passing Systems*, IEEE Transactions
on Parallel and Distributed Systems 8(11), 1997, doi 10.1109/71.642949.
"""

from routelab.simulation.flow.collectives.blocks import collective_block
from routelab.simulation.flow.collectives.choice import (
    ALGORITHMS,
    MPICH,
    algorithm_of,
    choice_text,
    parse_choice,
)

__all__ = [
    "ALGORITHMS",
    "MPICH",
    "algorithm_of",
    "choice_text",
    "collective_block",
    "parse_choice",
]

"""angara-bfs: the first table generator of the Angara interconnect.

Mukosey, Semenov, Tretiakov, *Optimized Graph Based Routing Algorithm for the Angara
Interconnect*, Algorithms 1 and 2, with the extra turns of Theorem 2.
"""

from routelab.api import Capabilities, Citation, Composition


class AngaraBfs(Composition):
    """`bfs@angara~turns=theorem2`."""

    name = "angara-bfs"
    summary = "Angara rules, breadth-first trees (the paper's BFS)"
    citations = (
        Citation(
            key="mukosey2020",
            title="Optimized Graph Based Routing Algorithm for the Angara Interconnect",
            authors="Mukosey, Anatoly and Semenov, Alexander and Tretiakov, Alexander",
            year=2021,
            venue="arXiv:2110.00851",
            cited_for="Algorithms 1 and 2, Theorem 2",
            doi="10.48550/arXiv.2110.00851",
        ),
    )
    capabilities = Capabilities(families=("torus", "mesh"), flow_control="bubble")
    rules = "angara~turns=theorem2"
    selection = "bfs"

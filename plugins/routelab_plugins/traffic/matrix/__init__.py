"""matrix: traffic of a matrix in a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import override

from routelab.api import Demand, Parameters, Topology, TrafficPlugin, parameter
from routelab.api.topology import Float64Array
from routelab.toolkit import read_traffic_matrix, unread_columns


class MatrixTrafficParameters(Parameters):
    """File of the matrix."""

    file: Path = parameter(
        description="CSV file: columns source (or src), target (or dst) and bytes by rank, or, "
        "without a header, a square matrix with a line for each sender"
    )


class MatrixTraffic(TrafficPlugin):
    """Rank i is terminal i; the rank that sends most has rate 1, other rates are proportional.

    Traffic of a rank to itself is left out. A network may have more terminals than the matrix has
    ranks: these are silent.
    """

    name = "matrix"
    summary = "Traffic in proportion to a matrix of bytes in a CSV file"
    Parameters = MatrixTrafficParameters

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.file]

    def supports(self, topology: Topology) -> str | None:
        """Require a terminal for every rank, and at least one sender.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line.
        """
        ranks, count = self._between_ranks(), topology.num_terminals
        if len(ranks) > count:
            return (
                f"{self.parameters.file} is traffic of {len(ranks)} ranks, and the network has "
                f"{count} terminals; choose a network with {len(ranks)} or more"
            )
        return None if ranks.any() else f"in {self.parameters.file} no rank sends to another"

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return a part for every pair with traffic.

        Raises
        ------
        InputError
            As `supports`.
        """
        between, count = self._between_ranks(), topology.num_terminals
        sent = between.sum(axis=1)
        source, target = np.nonzero(between)
        unread = unread_columns(self.parameters.file)
        parts = np.bincount(source, minlength=count)
        return Demand.create(
            rate=np.pad(sent / sent.max(), (0, count - len(sent))),
            part_start=np.concatenate(([0], np.cumsum(parts))),
            part_share=between[source, target] / sent[source],
            part_set=target,
            set_start=np.arange(count + 1),
            members=np.arange(count),
            to_self=False,
            convention=f"in proportion to {self.parameters.file.name}: rank i is terminal i, the "
            "rank that sends most has rate 1; nothing to itself"
            + (f"; {unread}" if unread else ""),
        )

    def _between_ranks(self) -> Float64Array:
        """Return the bytes between different ranks; float64, shape (R, R)."""
        matrix = read_traffic_matrix(self.parameters.file)
        np.fill_diagonal(matrix, 0.0)
        return matrix

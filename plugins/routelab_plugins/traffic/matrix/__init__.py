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
        """Return why the network has too few terminals or no rank sends; None if neither is so.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line.
        """
        sent_bytes, count = self._bytes_between_ranks(), topology.num_terminals
        if len(sent_bytes) > count:
            return (
                f"{self.parameters.file} is traffic of {len(sent_bytes)} ranks, and the network "
                f"has {count} terminals; choose a network with {len(sent_bytes)} or more"
            )
        return None if sent_bytes.any() else f"in {self.parameters.file} no rank sends to another"

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return demand with a part for every pair of ranks with traffic, its share by bytes.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line.
        """
        sent_bytes, count = self._bytes_between_ranks(), topology.num_terminals
        total = sent_bytes.sum(axis=1)  # of each sender
        source, target = np.nonzero(sent_bytes)
        unread = unread_columns(self.parameters.file)
        num_parts = np.bincount(source, minlength=count)
        # set t has terminal t alone; terminals behind the last rank are silent
        return Demand.create(
            rate=np.pad(total / total.max(), (0, count - len(total))),
            part_start=np.concatenate(([0], np.cumsum(num_parts))),
            part_share=sent_bytes[source, target] / total[source],
            part_set=target,
            set_start=np.arange(count + 1),
            members=np.arange(count),
            to_self=False,
            convention=f"in proportion to {self.parameters.file.name}: rank i is terminal i, the "
            "rank that sends most has rate 1; nothing to itself"
            + (f"; {unread}" if unread else ""),
        )

    def _bytes_between_ranks(self) -> Float64Array:
        """Return the bytes by (sender, receiver), 0 to itself; float64, shape (R, R)."""
        matrix = read_traffic_matrix(self.parameters.file)
        np.fill_diagonal(matrix, 0.0)
        return matrix

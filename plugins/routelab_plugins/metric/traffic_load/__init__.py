"""Channel loads under the traffic of a user's matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from typing_extensions import override

from routelab import metrics
from routelab.api import (
    Column,
    Measurement,
    MetricPlugin,
    Parameters,
    RouteTable,
    RoutingGraph,
    UnsupportedError,
    parameter,
)
from routelab.toolkit import read_traffic_matrix

COLUMNS = (
    Column(
        "max_load",
        "load of the busiest channel under the traffic of `matrix`, whose rank i is terminal i",
        unit="bytes",
        heading="maximum channel load under this traffic",
        better="lower",
        group="Traffic other than all-to-all",
    ),
    Column(
        "mean_load",
        "mean load of the channels under this traffic, weighted by capacity",
        unit="bytes",
        heading="mean channel load under this traffic",
        better="lower",
        group="Traffic other than all-to-all",
    ),
    Column(
        "perfect_load",
        "mean load under this traffic if all routes are as short as the network allows. No "
        "table has a smaller maximum load",
        heading="mean channel load on minimal routes under this traffic",
        unit="bytes",
        group="Traffic other than all-to-all",
    ),
    Column(
        "balance",
        "perfect load / maximum load under this traffic: 1 if all channels are loaded equally",
        heading="mean load on minimal routes / maximum load, under this traffic",
        better="higher",
        group="Traffic other than all-to-all",
    ),
)
"""The columns, with names that lack the prefix."""


def _columns(prefix: str) -> tuple[Column, ...]:
    """Return `COLUMNS` with a prefix before each name: ``traffic_max_load``."""
    return tuple(replace(column, name=f"{prefix}{column.name}") for column in COLUMNS)


class TrafficLoadParameters(Parameters):
    """File and name of the traffic matrix."""

    matrix: Path = parameter(
        description="CSV file: columns source, target, bytes by rank (others are not read), or, "
        "without a header, a square matrix with a line for each sender"
    )
    label: str = parameter(
        "",
        pattern=r"^[A-Za-z0-9_]*$",
        description="Part of the column names, to distinguish several matrices",
    )


class TrafficLoad(MetricPlugin):
    """Bytes that cross each channel under the traffic of a matrix.

    Rank i is terminal i. A network may have more terminals than the matrix has ranks. Loads are
    relative to capacity: a byte counts 1 on a channel of the greatest capacity, and 4 on one with a
    quarter of it.
    """

    name = "traffic-load"
    summary = "Maximum and mean channel load under a given traffic matrix, and its balance"
    Parameters = TrafficLoadParameters
    by_default = False
    columns = _columns("traffic_")

    def list_columns(self) -> Sequence[Column]:
        """List the columns; their names include the parameter `label`."""
        return _columns(self._prefix)

    @property
    def _prefix(self) -> str:
        return f"traffic_{self.parameters.label}_" if self.parameters.label else "traffic_"

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.matrix]

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the loads; nothing on a network without channels.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line.
        UnsupportedError
            If the network has fewer terminals than the matrix has ranks.
        """
        topology = table.topology
        traffic = read_traffic_matrix(self.parameters.matrix)
        ranks = len(traffic)
        if ranks > topology.num_terminals:
            raise UnsupportedError(
                f"{self.parameters.matrix} is traffic of {ranks} ranks, and the network has "
                f"{topology.num_terminals} terminals; choose a network with {ranks} or more"
            )
        if not topology.num_channels:
            return []
        # terminals without a rank send and receive nothing: zeros behind the last row and column
        idle = topology.num_terminals - ranks
        matrix = np.pad(traffic, (0, idle))
        bytes_on_channel = metrics.traffic_loads(table, matrix)
        max_load = float(metrics.relative_loads(topology, bytes_on_channel).max())
        mean = metrics.mean_load(topology, bytes_on_channel)
        perfect = metrics.perfect_traffic_load(topology, matrix)
        prefix = self._prefix
        # without traffic between switches there is no balance
        balance = [Measurement(f"{prefix}balance", perfect / max_load)] if max_load else []
        return [
            Measurement(f"{prefix}max_load", max_load),
            Measurement(f"{prefix}mean_load", mean),
            Measurement(f"{prefix}perfect_load", perfect),
            *balance,
        ]

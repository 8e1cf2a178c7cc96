"""A network from a file: edge list, CSV, GraphML or node-link JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from typing_extensions import override

from routelab.api import Parameters, Topology, TopologyPlugin, parameter
from routelab.toolkit.failures import FailureParameters, with_failures

from .network import MAX_TERMINALS, build_topology
from .readers import read_network


class GraphFile(Parameters):
    """File of the network, and options for reading it."""

    file: Path = parameter(
        description="Edge list (.txt, .edges: two names per line; .csv: columns source, target, "
        "optionally name, capacity, latency, source_port, target_port, and for `routelab prove` "
        "flow_control, buffer, ring), GraphML (.graphml) or node-link JSON (.json), with the same "
        "keys of edges"
    )
    format: Literal["auto", "edges", "csv", "graphml", "json"] = parameter(
        "auto", description="Format of the file; auto: by its suffix"
    )
    directed: bool | Literal["auto"] = parameter(
        "auto",
        description="Whether an edge is one channel (true) or two (false); auto: as the file "
        "says, and edge lists say two",
    )
    terminals: int = parameter(
        1,
        ge=0,
        le=MAX_TERMINALS,
        description="Terminals at each switch whose node has neither terminals nor endpoints in "
        "the file; ignored if the file has hosts",
    )
    repeats: Literal["refuse", "parallel"] = parameter(
        "refuse",
        description="How to treat a link that the file lists again with the same properties: as a "
        "mistake (refuse) or as a parallel link (parallel)",
    )


class GraphParameters(FailureParameters, GraphFile):
    """File of the network, options for reading it, and its failures."""


class Graph(TopologyPlugin):
    """Any network, read from a file."""

    name = "graph"
    summary = "Network from a file: edge list, CSV, GraphML or node-link JSON"
    Parameters = GraphParameters

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.file]

    def build(self) -> Topology:
        """Read the file.

        An undirected edge becomes two channels. Parallel edges stay apart: those that differ in
        name, ports, capacity, latency or, in GraphML, id, and all in JSON with ``"multigraph":
        true``. Other repeats are refused unless ``repeats`` is ``parallel``. A switch or host is
        named by its label if no other has it, else by its name (id) in the file. Nodes of kind
        ``host`` (or ``endpoint``, ``terminal``) are terminals, in the order of the file. The number
        of self-loops that were dropped is in ``attributes["self_loops_dropped"]``. Failures are
        those of `routelab.toolkit.failures.with_failures`.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line. Also
            if more parts should fail than exist.
        """
        parameters = self.parameters
        whole = build_topology(
            read_network(parameters.file, parameters.format),
            parameters.file,
            terminals=parameters.terminals,
            directed=None if parameters.directed == "auto" else parameters.directed,
            repeats=parameters.repeats,
        )
        return with_failures(whole, parameters)

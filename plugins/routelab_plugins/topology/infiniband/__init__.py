"""A real InfiniBand fabric, from the output of ``ibnetdiscover``."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import override

from routelab.api import Parameters, Topology, TopologyPlugin, Words, parameter
from routelab.toolkit.failures import FailureParameters, with_failures
from routelab.toolkit.infiniband import NOT_HOSTS, read_fabric, topology_of


class FabricFile(Parameters):
    """File of the fabric, and which of its end ports are hosts."""

    file: Path = parameter(
        description="Output of `ibnetdiscover` or `ibnetdiscover -p`, or a network file of ibsim"
    )
    leave_out: Words = parameter(
        NOT_HOSTS,
        description="Parts of the descriptions of nodes that are no hosts, such as aggregation "
        "nodes or storage: their end ports are left out; `leave_out=[]` keeps them",
    )
    routers: bool = parameter(
        False, description="Whether ports of routers to other fabrics are hosts"
    )


class InfiniBandParameters(FailureParameters, FabricFile):
    """File of the fabric, and its failures."""


class InfiniBand(TopologyPlugin):
    """Switches, hosts, ports, GUIDs, LIDs and link speeds of a fabric."""

    name = "infiniband"
    summary = "InfiniBand fabric from the output of ibnetdiscover"
    Parameters = InfiniBandParameters

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.file]

    def build(self) -> Topology:
        """Read the file.

        Switches and terminals are in natural order of their names (``n2`` before ``n10``), because
        the order of the file is that of the discovery. `routelab.toolkit.infiniband.topology_of`
        describes names, capacities and attributes. A file may hold several separate fabrics; routes
        exist within each of them. Failures are those of `routelab.toolkit.failures.with_failures`.

        Raises
        ------
        InputError
            If the file cannot be read or its content is wrong; names the file and the line. Also
            if more parts should fail than exist.
        """
        parameters = self.parameters
        network = topology_of(
            read_fabric(parameters.file), parameters.leave_out, routers=parameters.routers
        )
        return with_failures(network, self.parameters)

"""opensm: the routing engines of the installed subnet manager OpenSM.

OpenSM manages the network on the simulator ibsim. Its dump has the forwarding tables, its answers
to path queries the service levels, and its SL2VL tables the virtual lane of each hop. Nothing
replaces an engine that fails (``no_fallback``): the reason is OpenSM's own error. The tables are
OpenSM's, so they may not be free of deadlock; the verdict says.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from typing_extensions import override

from routelab.api import (
    Capabilities,
    Column,
    Parameters,
    RouteTable,
    RoutingPlugin,
    Topology,
    UnsupportedError,
    frozen_array,
    parameter,
)
from routelab.api.topology import BoolArray, Int8Array, Int16Array
from routelab.toolkit.families.damaged_grids import DamagedGrid, damaged_grid
from routelab.toolkit.infiniband import (
    Addresses,
    LaneTables,
    addresses_of,
    connected_parts,
    loaded_routes,
    read_forwarding_tables,
    read_lane_tables,
    root_switches,
    simulation_lines,
)
from routelab.toolkit.program_versions import program_version
from routelab_plugins.routing.opensm.programs import (
    Fabric,
    RunningFabric,
    missing_programs,
    opensm_program,
)

LAYERED = ("lash", "torus-2QoS", "nue", "dfsssp")
"""Engines that use several service levels; the others are on SL 0."""
ROOTED = ("updn", "dnup")
"""Engines that need root switches."""
MAX_OP_VLS = {"1": 1, "2": 2, "4": 3, "8": 4}
"""Codes of numbers of virtual lanes in OpenSM's options."""
AXES = "xyz"
PORTGROUP_MAX_PORTS = 16
"""OpenSM's default for the most ports of hosts at a switch of a torus, with its management port."""
LFTS = "opensm-lfts.dump"
"""OpenSM's dump of the forwarding tables."""


class OpenSMParameters(Parameters):
    """Engine and hardware."""

    engine: Literal[
        "minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "nue", "sssp", "dfsssp"
    ] = parameter("minhop", description="Routing engine of OpenSM")
    vls: Literal["1", "2", "4", "8"] = parameter("8", description="Data VLs of the fabric")
    mesh_analysis: bool = parameter(
        False, description="Whether the engine `lash` orders the dimensions of meshes and tori"
    )
    seconds: float = parameter(300, gt=0, description="Limit of the wall time, in seconds")


class OpenSM(RoutingPlugin):
    """Starts OpenSM on a simulated fabric and reads its tables."""

    name = "opensm"
    summary = "Routing engines of the installed subnet manager OpenSM, on a simulated fabric"
    capabilities = Capabilities(multipath=True, virtual_channels=None, destination_based=True)
    columns = (
        Column(
            "opensm_seconds",
            "Routing time in OpenSM's log, including the writing of tables to the switches",
            heading="OpenSM routing time",
            unit="s",
            group="Computing effort",
        ),
    )
    Parameters = OpenSMParameters

    def input_files(self) -> list[Path]:
        """List OpenSM itself, so that another version makes the results stale."""
        program = opensm_program()
        return [Path(program)] if program else []

    @override
    def program_versions(self) -> dict[str, str]:
        program = opensm_program()
        return {"OpenSM": program_version(program)} if program else {}

    def supports(self, topology: Topology) -> str | None:
        """Require the programs, two-way links, a host, and a shape that the engine supports."""
        reason = missing_programs()
        if reason is not None:
            return reason
        if not topology.num_terminals:
            return "needs a host that OpenSM runs on"
        try:
            addresses = addresses_of(topology)
            # only for its errors: it refuses networks that the engine does not support
            self._torus_file(topology, addresses)
        except UnsupportedError as error:
            return str(error)
        return None

    def route(self, topology: Topology) -> RouteTable:
        """Run OpenSM, one connected part of the network after another.

        Raises
        ------
        UnsupportedError
            If the engine fails, or OpenSM does not finish in time.
        InputError
            If the tables have a loop or lack an entry.
        """
        # 1. The forwarding tables of the whole network: an output port by (switch, LID), −1 without
        #    an entry. OpenSM does not run for parts without hosts; there each switch has an entry
        #    for itself only, port 0.
        addresses = addresses_of(topology)
        ports = np.full((topology.num_switches, int(addresses.lids.max()) + 1), -1, np.int16)
        ports[np.arange(topology.num_switches), addresses.switch_lids] = 0
        # the service level of each pair of terminals; 0 for pairs in different parts
        levels = np.zeros((topology.num_terminals,) * 2, np.int8)
        lanes: dict[str, Int8Array] = {}
        seconds = 0.0
        # 2. Each part with hosts in turn; the results of a part replace its rows.
        part = connected_parts(topology)
        for number in np.unique(part[topology.terminal_switch]).tolist():
            in_part = part == number
            part_topology, part_addresses = _select_switches(topology, addresses, in_part)
            part_ports, part_levels, part_lanes, part_seconds = self._run(
                part_topology, part_addresses
            )
            # the dump of a part may have fewer LIDs than the network, or more
            num_lids = min(part_ports.shape[1], ports.shape[1])
            ports[in_part, :num_lids] = part_ports[:, :num_lids]
            terminals = np.flatnonzero(in_part[topology.terminal_switch])
            if part_levels is not None:
                levels[np.ix_(terminals, terminals)] = part_levels
            lanes |= part_lanes
            seconds += part_seconds
        return loaded_routes(
            topology,
            addresses,
            frozen_array(ports, np.int16),
            file=LFTS,
            levels=frozen_array(levels, np.int8),
            lane_tables=LaneTables(lanes) if lanes else None,
            counters={"opensm_seconds": seconds},
        )

    def _run(
        self, topology: Topology, addresses: Addresses
    ) -> tuple[Int16Array, Int8Array | None, Mapping[str, Int8Array], float]:
        """Run OpenSM on a connected network and read what it computed.

        Returns
        -------
        ports : int16 array, shape (S, L)
            Output port by switch and LID, as in the forwarding tables.
        levels : int8 array, shape (T, T), or None
            Service level of each pair of terminals; None: all on level 0.
        lanes : mapping of str to int8 array
            Virtual lane of each service level (SL2VL tables) by GUID of the switch, see
            `LaneTables`; empty if all pairs are on level 0.
        seconds : float
            Routing time in OpenSM's log.
        """
        with tempfile.TemporaryDirectory(prefix="routelab-opensm-") as name:
            folder = Path(name)
            running = RunningFabric(
                self._fabric(topology, addresses), folder, self.parameters.seconds
            )
            try:
                seconds = running.start(self._arguments(folder))
                levels = None
                if self.parameters.engine in LAYERED:
                    host_switches = topology.terminal_switch.tolist()
                    host_ports = list(zip(addresses.terminal_guids, host_switches, strict=True))
                    # a byte for each pair of hosts
                    answers = np.frombuffer(running.service_levels(host_ports), dtype=np.int8)
                    levels = frozen_array(answers.reshape(len(host_ports), -1), np.int8)
            finally:
                running.stop()
            tables = read_forwarding_tables(folder / LFTS)
            lanes = {} if levels is None else read_lane_tables(folder / "opensm-sl2vl.dump").lanes
        return tables.of_switches(addresses.switch_guids, LFTS), levels, lanes, seconds

    def _arguments(self, folder: Path) -> list[str]:
        """Return OpenSM's arguments for the chosen engine.

        ``-R`` is the engine, ``-Q`` asks for service levels and SL2VL tables, ``-a`` names the file
        of the roots of up*/down*.
        """
        engine, vls = self.parameters.engine, self.parameters.vls
        arguments = ["-R", f"{engine},no_fallback", "-Q"]
        if engine in ROOTED:
            arguments += ["-a", str(folder / "roots")]
        if engine == "lash" and self.parameters.mesh_analysis:
            arguments += ["--do_mesh_analysis"]
        if engine == "nue":
            arguments += ["--nue_max_num_vls", vls]
        if engine == "torus-2QoS":
            arguments += ["--torus_config", str(folder / "torus.conf")]
        return arguments

    def _fabric(self, topology: Topology, addresses: Addresses) -> Fabric:
        """Return the network and the configuration files that OpenSM is started with."""
        # 1. The files. A line of guid2lid has a range of LIDs: each port has one LID.
        options = (
            "qos TRUE",
            f"qos_max_vls {self.parameters.vls}",
            f"max_op_vls {MAX_OP_VLS[self.parameters.vls]}",
            "honor_guid2lid_file TRUE",
            "force_log_flush TRUE",
        )
        lids = zip(addresses.guids, addresses.lids.tolist(), strict=True)
        roots = (addresses.switch_guids[switch] for switch in root_switches(topology))
        files = {
            "cache/guid2lid": "".join(f"{guid} 0x{lid:04x} 0x{lid:04x}\n\n" for guid, lid in lids),
            "options": "".join(f"{line}\n" for line in options),
            "roots": "".join(f"{guid}\n" for guid in roots),
            "torus.conf": self._torus_file(topology, addresses),
        }
        # 2. The sizes for the simulator. A switch has all ports from 0 to its last one with a
        #    cable, whether free or not; a host has ports 0 and 1.
        last_port = np.zeros(topology.num_switches, dtype=np.int64)
        np.maximum.at(last_port, topology.channel_source, addresses.channel_port)
        np.maximum.at(last_port, topology.terminal_switch, addresses.terminal_port)
        # the GUID of a host is that of its port minus 1, as in `simulation_lines`
        hosts = tuple(f"H-{int(guid, 16) - 1:016x}" for guid in addresses.terminal_guids)
        return Fabric(
            network="".join(f"{line}\n" for line in simulation_lines(topology, addresses)),
            files=files,
            nodes=topology.num_terminals + topology.num_switches,
            switches=topology.num_switches,
            ports=2 * topology.num_terminals + int((last_port + 1).sum()),
            hosts=hosts,
        )

    def _torus_file(self, topology: Topology, addresses: Addresses) -> str:
        """Return the text of the configuration file of engine torus-2QoS.

        It has the shape of the torus, and the links at one switch.

        For a 4x4 torus, the lines ``torus 4t 4t 1m``, ``xp_link GUID GUID``, ``xm_link …``,
        ``x_dateline 0`` and so on. Empty for other engines.

        Raises
        ------
        UnsupportedError
            If the engine does not support the network.
        """
        if self.parameters.engine != "torus-2QoS":
            return ""
        damaged = damaged_grid(topology)
        if damaged is None or not 2 <= len(damaged.grid.dims) <= len(AXES):
            raise UnsupportedError("engine torus-2QoS needs a torus or mesh of 2 or 3 dimensions")
        # 1. The shape: t for rings, m for lines; OpenSM wants three dimensions.
        dims, wrap = damaged.grid.dims, damaged.grid.wrap
        sizes = [f"{size}{'t' if ring else 'm'}" for size, ring in zip(dims, wrap, strict=True)]
        if len(sizes) < len(AXES):
            sizes.append("1m")
        lines = [f"torus {' '.join(sizes)}"]
        # 2. The links of the seed switch in each direction, p (plus) and m (minus). OpenSM gives it
        #    the coordinates 0. The position of a dateline moves this origin: with −c, where c is
        #    the coordinate of the seed switch, OpenSM's coordinates are those of the network.
        assert topology.coordinates is not None
        seed = _seed_switch(topology, damaged)
        for axis, coordinate in enumerate(topology.coordinates[seed].tolist()):
            for sign, direction in (("p", axis), ("m", axis + len(dims))):
                channel = damaged.out_channel[seed, direction]
                if channel >= 0:
                    neighbour = int(topology.channel_target[channel])
                    guids = f"{addresses.switch_guids[seed]} {addresses.switch_guids[neighbour]}"
                    lines.append(f"{AXES[axis]}{sign}_link {guids}")
            lines.append(f"{AXES[axis]}_dateline {-coordinate}")
        # 3. The ports of hosts and the management port of a switch form one group.
        most_hosts = int(topology.terminals_per_switch.max(initial=0))
        lines.append(f"portgroup_max_ports {max(most_hosts + 1, PORTGROUP_MAX_PORTS)}")
        return "".join(f"{line}\n" for line in lines)


def _seed_switch(topology: Topology, damaged: DamagedGrid) -> int:
    """Return the switch whose links the configuration of torus-2QoS names.

    OpenSM finds the coordinates of all other switches from there. So it is a switch that, together
    with its neighbours, misses fewest links; of several the first.
    """
    assert topology.coordinates is not None
    wrap, last = np.array(damaged.grid.wrap), np.array(damaged.grid.dims) - 1
    # Whether an undamaged grid has a link, by (switch, direction), positive directions first: rings
    # have all, a line has none behind its ends.
    has_link = np.hstack([wrap | (topology.coordinates < last), wrap | (topology.coordinates > 0)])
    num_missing = (has_link & (damaged.out_channel < 0)).sum(axis=1)
    num_missing_nearby = num_missing.copy()
    # add those of each neighbour
    np.add.at(num_missing_nearby, topology.channel_source, num_missing[topology.channel_target])
    return int(np.argmin(num_missing_nearby))


def _select_switches(
    topology: Topology, addresses: Addresses, is_selected: BoolArray
) -> tuple[Topology, Addresses]:
    """Return the network with the selected switches only, and its addresses.

    Parameters
    ----------
    topology : Topology
    addresses : Addresses
    is_selected : bool array, shape (S,)
        A connected part: no channel leaves it.
    """
    if is_selected.all():
        return topology, addresses
    channels = is_selected[topology.channel_source]
    terminals = is_selected[topology.terminal_switch]
    switches, ends = np.flatnonzero(is_selected).tolist(), np.flatnonzero(terminals).tolist()
    selected_addresses = replace(
        addresses,
        switch_guids=tuple(addresses.switch_guids[switch] for switch in switches),
        terminal_guids=tuple(addresses.terminal_guids[end] for end in ends),
        switch_lids=addresses.switch_lids[is_selected],
        terminal_lids=addresses.terminal_lids[terminals],
        channel_port=addresses.channel_port[channels],
        terminal_port=addresses.terminal_port[terminals],
    )
    other_switches = np.flatnonzero(~is_selected).tolist()
    return topology.without(switches=other_switches), selected_addresses

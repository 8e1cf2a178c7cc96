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
LFTS = "opensm-lfts.dump"


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
        """Require the programs, two-way links, and a host."""
        reason = missing_programs()
        if reason is not None:
            return reason
        if not topology.num_terminals:
            return "needs a host that OpenSM runs on"
        try:
            addresses = addresses_of(topology)
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
        addresses = addresses_of(topology)
        ports = np.full((topology.num_switches, int(addresses.lids.max()) + 1), -1, np.int16)
        # of switches in parts without hosts, for which OpenSM does not run
        ports[np.arange(topology.num_switches), addresses.switch_lids] = 0
        levels = np.zeros((topology.num_terminals,) * 2, np.int8)
        lanes: dict[str, Int8Array] = {}
        seconds = 0.0
        part = connected_parts(topology)
        for number in np.unique(part[topology.terminal_switch]).tolist():
            inside = part == number
            part_ports, part_levels, part_lanes, part_seconds = self._run(
                *_part(topology, addresses, inside)
            )
            width = min(part_ports.shape[1], ports.shape[1])
            ports[inside, :width] = part_ports[:, :width]
            terminals = np.flatnonzero(inside[topology.terminal_switch])
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
            Port by switch and LID.
        levels : int8 array, shape (T, T), or None
            Service level of each pair of terminals; None: all on level 0.
        lanes : mapping of str to int8 array
            See `LaneTables`.
        seconds : float
            Routing time.
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
                    at = topology.terminal_switch.tolist()
                    ports = list(zip(addresses.terminal_guids, at, strict=True))
                    answers = np.frombuffer(running.service_levels(ports), dtype=np.int8)
                    levels = frozen_array(answers.reshape(len(ports), -1), np.int8)
            finally:
                running.stop()
            tables = read_forwarding_tables(folder / LFTS)
            lanes = {} if levels is None else read_lane_tables(folder / "opensm-sl2vl.dump").lanes
        return tables.of_switches(addresses.switch_guids, LFTS), levels, lanes, seconds

    def _arguments(self, folder: Path) -> list[str]:
        """Return OpenSM's arguments for the chosen engine."""
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
        lids = zip(addresses.guids, addresses.lids.tolist(), strict=True)
        files = {
            "cache/guid2lid": "".join(f"{g} 0x{n:04x} 0x{n:04x}\n\n" for g, n in lids),
            "options": "".join(
                f"{line}\n"
                for line in (
                    "qos TRUE",
                    f"qos_max_vls {self.parameters.vls}",
                    f"max_op_vls {MAX_OP_VLS[self.parameters.vls]}",
                    "honor_guid2lid_file TRUE",
                    "force_log_flush TRUE",
                )
            ),
            "roots": "".join(
                f"{addresses.switch_guids[switch]}\n" for switch in root_switches(topology)
            ),
            "torus.conf": self._torus_file(topology, addresses),
        }
        # a switch may have free ports below its last one with a cable
        last = np.zeros(topology.num_switches, dtype=np.int64)
        np.maximum.at(last, topology.channel_source, addresses.channel_port)
        np.maximum.at(last, topology.terminal_switch, addresses.terminal_port)
        hosts = tuple(f"H-{int(guid, 16) - 1:016x}" for guid in addresses.terminal_guids)
        return Fabric(
            "".join(f"{line}\n" for line in simulation_lines(topology, addresses)),
            files,
            nodes=topology.num_terminals + topology.num_switches,
            switches=topology.num_switches,
            ports=2 * topology.num_terminals + int((last + 1).sum()),
            hosts=hosts,
        )

    def _torus_file(self, topology: Topology, addresses: Addresses) -> str:
        """Return the configuration of engine torus-2QoS: shape, and links at one switch."""
        if self.parameters.engine != "torus-2QoS":
            return ""
        damaged = damaged_grid(topology)
        if damaged is None or not 2 <= len(damaged.grid.dims) <= len(AXES):
            raise UnsupportedError("engine torus-2QoS needs a torus or mesh of 2 or 3 dimensions")
        dims, wrap = damaged.grid.dims, damaged.grid.wrap
        shape = [f"{size}{'t' if ring else 'm'}" for size, ring in zip(dims, wrap, strict=True)]
        lines = [f"torus {' '.join([*shape, '1m'][: len(AXES)])}"]
        assert topology.coordinates is not None
        seed = _seed_switch(topology, damaged)
        for axis, first in enumerate(topology.coordinates[seed].tolist()):
            for sign, direction in (("p", axis), ("m", axis + len(dims))):
                channel = damaged.out_channel[seed, direction]
                if channel >= 0:
                    ends = (seed, int(topology.channel_target[channel]))
                    guids = " ".join(addresses.switch_guids[end] for end in ends)
                    lines.append(f"{AXES[axis]}{sign}_link {guids}")
            lines.append(f"{AXES[axis]}_dateline {-first}")
        max_ports = max(int(topology.terminals_per_switch.max(initial=0)) + 1, 16)
        return "".join(f"{line}\n" for line in (*lines, f"portgroup_max_ports {max_ports}"))


def _seed_switch(topology: Topology, damaged: DamagedGrid) -> int:
    """Return the first switch that misses fewest links, also at its neighbours.

    OpenSM finds the places of all other switches from the links there.
    """
    assert topology.coordinates is not None
    wrap, last = np.array(damaged.grid.wrap), np.array(damaged.grid.dims) - 1
    expected = np.hstack([wrap | (topology.coordinates < last), wrap | (topology.coordinates > 0)])
    num_missing = (expected & (damaged.out_channel < 0)).sum(axis=1)
    around = num_missing.copy()
    np.add.at(around, topology.channel_source, num_missing[topology.channel_target])
    return int(np.argmin(around))


def _part(
    topology: Topology, addresses: Addresses, inside: BoolArray
) -> tuple[Topology, Addresses]:
    """Return a part of a network, given by its switches, with its addresses."""
    if inside.all():
        return topology, addresses
    channels = inside[topology.channel_source]
    terminals = inside[topology.terminal_switch]
    switches, ends = np.flatnonzero(inside).tolist(), np.flatnonzero(terminals).tolist()
    part = replace(
        addresses,
        switch_guids=tuple(addresses.switch_guids[switch] for switch in switches),
        terminal_guids=tuple(addresses.terminal_guids[end] for end in ends),
        switch_lids=addresses.switch_lids[inside],
        terminal_lids=addresses.terminal_lids[terminals],
        channel_port=addresses.channel_port[channels],
        terminal_port=addresses.terminal_port[terminals],
    )
    return topology.without(switches=np.flatnonzero(~inside).tolist()), part

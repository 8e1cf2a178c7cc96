"""Credit loops that `routelab infiniband check` and ibdmchk find in what OpenSM's engines make.

Service levels are those that OpenSM itself answers for each pair of ports.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
from service_level_lines import service_level_lines

from routelab.api import Topology, UnsupportedError
from routelab.api.topology import Int8Array
from routelab.cluster.infiniband.credit_loops import find_credit_loops
from routelab.cluster.infiniband.inputs import FabricTables, read_fabric_tables, service_of
from routelab.cluster.infiniband.walk import fates_of
from routelab.registry.instances import load
from routelab.toolkit.infiniband import (
    ServiceLevels,
    addresses_of,
    destination_switches,
    read_lane_tables,
    read_service_levels,
)
from routelab_plugins.routing.opensm.programs import PATH, RunningFabric

NETWORKS = Path(__file__).parents[2] / "config" / "networks"
RANDOM = f"infiniband~file={NETWORKS / 'r64d6h1.net'}"
SECONDS = 300


class Verdicts(NamedTuple):
    """Whether there are credit loops, among hosts only and among hosts and switches.

    Attributes
    ----------
    ours : tuple of (bool, bool)
    theirs : tuple of (bool or None, bool or None)
        Of ``ibdmchk -c -d``, without and with ``-a``; None: it stops at missing routes between
        switches.
    levels : tuple of (int, int)
        Number of service levels among hosts, and among hosts and switches.
    """

    ours: tuple[bool, bool]
    theirs: tuple[bool | None, bool | None]
    levels: tuple[int, int]


def verdicts_of(network: str, engine: str, folder: Path) -> Verdicts:
    """Run an engine of OpenSM on a network and examine what it makes.

    Raises
    ------
    UnsupportedError
        If the engine does not apply, or fails.
    """
    topology = load("topology", network).build()
    levels = _run(topology, engine, folder)
    tables = read_fabric_tables(folder / "fabric.net", folder / "opensm-lfts.dump")
    level_file, lane_file = folder / "levels.txt", folder / "opensm-sl2vl.dump"
    _write_levels(tables, levels, level_file)
    service = service_of(tables, read_service_levels(level_file), read_lane_tables(lane_file))
    fates, _ = fates_of(tables)
    ours = tuple(
        find_credit_loops(tables, service, fates, hosts_only=hosts_only).count > 0
        for hosts_only in (True, False)
    )
    theirs = tuple(
        _ibdmchk(folder, level_file, lane_file, hosts_only=hosts_only)
        for hosts_only in (True, False)
    )
    hosts = topology.num_terminals
    return Verdicts(ours, theirs, (len(np.unique(levels[:hosts, :hosts])), len(np.unique(levels))))


def _run(topology: Topology, engine: str, folder: Path) -> Int8Array:
    """Let OpenSM dump its tables in a folder; return the level of each pair of ports, or −1."""
    routing = load("routing", f"opensm~engine={engine}")
    reason = routing.supports(topology)
    if reason is not None:
        raise UnsupportedError(reason)
    addresses = addresses_of(topology)
    running = RunningFabric(routing._fabric(topology, addresses), folder, SECONDS)
    try:
        running.start(routing._arguments(folder))
        ports = list(zip(addresses.guids, destination_switches(topology).tolist(), strict=True))
        try:
            answers = running.service_levels(ports)
        except UnsupportedError:
            # some engines leave switches without routes to each other; 255 stands for no answer
            answers = (folder / "levels").read_bytes()
        return np.frombuffer(answers, np.int8).reshape(len(ports), -1)
    finally:
        running.stop()


def _write_levels(tables: FabricTables, levels: Int8Array, file: Path) -> None:
    """Write levels for ibdmchk, which names nodes: an adapter's GUID is its port's minus 1."""
    addresses = tables.addresses
    adapters = (f"0x{int(guid, 16) - 1:016x}" for guid in addresses.terminal_guids)
    columns = np.full((len(levels), int(addresses.lids.max()) + 1), -1, dtype=np.int8)
    columns[:, addresses.lids] = levels
    lines = service_level_lines(ServiceLevels((*adapters, *addresses.switch_guids), columns))
    file.write_text("".join(f"{line}\n" for line in lines))


def _ibdmchk(folder: Path, levels: Path, lanes: Path, *, hosts_only: bool) -> bool | None:
    """Return whether ibdmchk finds credit loops, if it looks; its exit code says nothing."""
    files = {
        "-s": folder / "opensm-subnet.lst",
        "-f": folder / "opensm.fdbs",
        "-m": folder / "opensm.mcfdbs",
        "-c": levels,
        "-d": lanes,
    }
    named = [text for flag, name in files.items() for text in (flag, str(name))]
    done = subprocess.run(
        ["ibdmchk", *named, *([] if hosts_only else ["-a"])],
        env={"PATH": PATH, "LC_ALL": "C"},
        cwd=folder,
        capture_output=True,
        timeout=SECONDS,
    )
    output = done.stdout.decode("utf-8", "backslashreplace")
    has_loops = "credit loops in routing" in output
    if not hosts_only and "missing paths out of" in output:
        return None
    if has_loops == ("no credit loops found" in output):
        raise RuntimeError(f"ibdmchk has no verdict: {output[-500:]}")
    return has_loops

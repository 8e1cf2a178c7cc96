"""`routelab infiniband check` and ibdmchk find credit loops in the same tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from service_level_lines import service_level_lines

from routelab.cli import main
from routelab.cluster.infiniband.check import check_fabric, find_faults
from routelab.cluster.infiniband.inputs import FabricTables, Service, read_fabric_tables, service_of
from routelab.routing.export import export_routes, table_of
from routelab.toolkit.infiniband import (
    ServiceLevels,
    addresses_of,
    complete,
    read_lane_tables,
    read_service_levels,
)

SMALL = Path(__file__).parents[1] / "data" / "infiniband" / "small.net"
NETWORKS = Path(__file__).parents[2] / "config" / "networks"
RANDOM, MESH = NETWORKS / "r64d6h1.net", NETWORKS / "m8x8f6s1.net"
FOUND, NONE = "credit loops in routing", "no credit loops found"


def dumps_of(fabric) -> tuple[Path, Path]:
    """Return the network as ibnetdiscover lists it, and the forwarding tables."""
    file = fabric.folder / "fabric.topo"
    file.write_text(fabric.ask("ibnetdiscover", host=0))
    return file, fabric.folder / "opensm-lfts.dump"


@pytest.mark.parametrize(
    ("engine", "load"),
    # largest loads as measured with an independent program
    [("updn", 176), ("minhop", 38), ("sssp", 41)],
)
def test_opensm_engines_on_a_random_graph(engine, load, simulate, tmp_path):
    """OpenSM's updn has credit loops on random graphs."""
    fabric = simulate(RANDOM)
    (tmp_path / "roots").write_text("0x0000000000200000\n")
    roots = ("-a", str(tmp_path / "roots")) if engine == "updn" else ()
    fabric.manage("-R", f"{engine},no_fallback", *roots)
    check = check_fabric(*dumps_of(fabric), bound_seconds=5)
    assert check.facts["loops"] == check.facts["unreachable_lids"] == 0
    assert check.facts["max_load"] == load
    assert check.facts["load_bound"] == 26
    output = fabric.check_with_ibdmchk("-a")
    assert (FOUND in output) == bool(check.possible_loop)
    assert (NONE in output) == (not check.possible_loop)
    assert check.possible_loop or engine != "updn"


def with_levels(fabric, tables: FabricTables, levels: np.ndarray) -> tuple[Service, str]:
    """Return levels as the check reads them, and the output of ibdmchk with them.

    Parameters
    ----------
    levels : int8 array, shape (T + S, T + S)
    """
    addresses = tables.addresses
    nodes = [f"0x{int(guid, 16) - 1:016x}" for guid in addresses.terminal_guids]
    table = np.full((len(levels), addresses.lids.max() + 1), -1, dtype=np.int8)
    table[:, addresses.lids] = levels
    lines = service_level_lines(ServiceLevels((*nodes, *addresses.switch_guids), table))
    file, lanes = fabric.folder / "levels", fabric.folder / "opensm-sl2vl.dump"
    file.write_text("".join(f"{line}\n" for line in lines))
    service = service_of(tables, read_service_levels(file), read_lane_tables(lanes))
    return service, fabric.check_with_ibdmchk("-a", "-c", str(file), "-d", str(lanes))


def test_levels_and_lanes_of_our_tables(simulate, tmp_path):
    """With fewer levels than the routing needs, the same tables have credit loops."""
    names = [f"infiniband~file={MESH}", "dfsssp~routes=terminals"]
    table = table_of(names)
    for name, text in export_routes("opensm", names).items():
        (tmp_path / name).write_text(text)
    fabric = simulate(tmp_path / "fabric.net")
    shutil.copy(tmp_path / "guid2lid", fabric.folder / "cache" / "guid2lid")
    files = {"-U": "routelab.lft", "-Y": "qos-policy.conf"}
    named = [text for flag, name in files.items() for text in (flag, str(tmp_path / name))]
    options = (tmp_path / "opensm.conf").read_text()
    fabric.manage("-R", "file,no_fallback", "-Q", *named, options=options)

    tables = read_fabric_tables(*dumps_of(fabric))
    lanes = complete(table, 8).lanes
    levels = lanes[np.concatenate((table.topology.terminal_switch, np.arange(64)))]
    assert addresses_of(table.topology).guids == tables.addresses.guids
    verdicts = []
    for most in (8, 3, 2):
        service, output = with_levels(fabric, tables, np.minimum(levels, most - 1))
        faults = find_faults(tables, service)
        assert (FOUND in output, NONE in output) == (bool(faults.texts), not faults.texts)
        verdicts.append(bool(faults.texts))
    assert (verdicts[0], verdicts[-1]) == (False, True)


def verdicts(capsys, *arguments: object) -> tuple[int, str]:
    code = main(["infiniband", "check", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_tables_with_several_lids_for_a_port_are_not_proven(simulate, capsys):
    """`ibnetdiscover -p` and `opensm.fdbs` do not say that LMC is 1."""
    fabric = simulate(SMALL)
    fabric.manage("-R", "minhop,no_fallback", "-l", "1")
    topology, dump = dumps_of(fabric)
    lines = fabric.folder / "fabric.p"
    lines.write_text(fabric.ask("ibnetdiscover", "-p", host=0))
    for network, tables, words in (
        (topology, dump, "several LIDs (LMC 1)"),
        (lines, dump, "LMC above 0"),
        (lines, fabric.folder / "opensm.fdbs", "LIDs that no port of the fabric has (0x0003, "),
    ):
        code, text = verdicts(capsys, network, "--lfts", tables)
        assert (code, words in text) == (3, True), text


def test_lanes_of_adapters_may_drop_packets(simulate, capsys):
    levels = ",".join(map(str, range(15))) + ",7"
    fabric = simulate(SMALL)
    options = f"qos TRUE\nqos_max_vls 15\nqos_sl2vl {levels}\n"
    options += f"qos_ca_sl2vl {levels.replace(',1,', ',15,', 1)}\n"
    fabric.manage("-R", "minhop,no_fallback", "-Q", options=options)
    topology, dump = dumps_of(fabric)
    lanes = fabric.folder / "opensm-sl2vl.dump"
    files = (topology, "--lfts", dump, "--sl2vl", lanes)
    for level, code in ((0, 0), (1, 6), (2, 0)):
        verdict = verdicts(capsys, *files, "--sls", level)
        assert (verdict[0], "leads to VL 15" in verdict[1]) == (code, code == 6), verdict[1]

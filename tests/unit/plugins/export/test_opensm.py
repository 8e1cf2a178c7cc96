"""Files for OpenSM: every LID everywhere, levels as the table's channels, and no damaged files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from routelab.api import InputError, RouteTable, UnsupportedError
from routelab.registry.instances import load
from routelab.routing.export import export_routes, table_of
from routelab.routing.routing import Routing
from routelab.toolkit.infiniband import (
    TextFile,
    addresses_of,
    check_tables,
    parse_fabric,
    parse_forwarding_tables,
    parse_policy,
    topology_of,
)
from routelab.toolkit.machine import Machine
from routelab_plugins.export.opensm.reader import tables_of_files

DATA = Path(__file__).parents[3] / "data" / "infiniband"
FABRIC = f"infiniband~file={DATA / 'fabric.topo'}"
ROUTES = [FABRIC, "dfsssp~routes=terminals"]


@pytest.fixture(scope="module")
def fabric():
    """Files of a real fabric, with LIDs that are not in sequence."""
    return export_routes("opensm", ROUTES)


@pytest.fixture(scope="module")
def exported():
    """Routes of this fabric."""
    return table_of(ROUTES)


def test_every_switch_has_an_entry_for_every_lid_of_the_fabric(fabric, exported):
    tables = parse_forwarding_tables(TextFile.of("lft", fabric["routelab.lft"]))
    lids = sorted(exported.topology.attributes["lids"].values())
    assert lids == [2, 3, 7, 8, *range(129, 134)]
    for row in tables.ports:
        assert np.flatnonzero(row >= 0).tolist() == lids
    assert set(tables.guid_of_lid) == set(lids)
    owners = {lid: guid for guid, lid in exported.topology.attributes["lids"].items()}
    assert dict(tables.guid_of_lid) == owners


def test_the_files_of_the_simulation_are_the_network(fabric, exported):
    copy = topology_of(parse_fabric(TextFile.of("net", fabric["fabric.net"])))
    topology = exported.topology
    for name in ("channel_source", "source_port", "terminal_switch", "terminal_port"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(topology, name))
    assert copy.switch_guids == topology.switch_guids
    assert copy.terminal_guids == topology.terminal_guids


def test_levels_are_the_virtual_channels_of_the_routes():
    names = ["torus~dims=5", "dfsssp"]
    result, table = export_routes("opensm~replies=own", names), table_of(names)
    assert table.virtual_channels == 2
    addresses = addresses_of(table.topology)
    policy = parse_policy(TextFile.of("policy", result["qos-policy.conf"]))
    levels = policy.levels(addresses.terminal_guids, addresses.terminal_guids)
    for source in range(5):
        for target in range(5):
            if source != target:
                first = table.path_start[table.pair_start[table.pair(source, target)]]
                assert levels[source, target] == table.hop_vc[first]


def readme_of(export: str, routing: str = "dfsssp", network: str = "torus~dims=5") -> str:
    return " ".join(export_routes(export, [network, routing])["README.md"].split())


def both_ways(files: dict[str, str], table: RouteTable) -> np.ndarray:
    """Return the service level of each ordered pair of hosts; 0 within a switch."""
    addresses = addresses_of(table.topology)
    policy = parse_policy(TextFile.of("policy", files["qos-policy.conf"]))
    at = table.topology.terminal_switch
    levels = policy.levels(addresses.terminal_guids, addresses.terminal_guids)
    return np.where(at[:, np.newaxis] == at, 0, levels)


@pytest.mark.parametrize("routes", ["switches", "terminals"])
def test_levels_that_are_safe_for_replies_on_the_level_of_the_request_are_preferred(routes, caplog):
    network = "random-regular~n=16,degree=3,terminals=2"
    names = [network, f"dfsssp~routes={routes}"]
    result, table = export_routes("opensm", names), table_of(names)
    levels = both_ways(result, table)
    np.testing.assert_array_equal(levels, levels.T)
    assert not caplog.records
    text = " ".join(result["README.md"].split())
    assert "proven free of deadlock for both" in text
    assert "both directions of a pair have one service level" in text
    proof = tables_of_files(table.topology, addresses_of(table.topology), result)
    assert f"{proof.lanes.max() + 1} of 8 virtual lanes" in text
    assert check_tables(proof, replies="same") is None
    # the routing's own levels are not safe, so they had to change
    own = export_routes("opensm~replies=own", names)
    assert "**Warning**: replies must use" in own["README.md"]
    assert own["routelab.lft"] == result["routelab.lft"]


def test_the_subnet_manager_is_left_out_of_the_proof_or_part_of_it(caplog):
    caplog.set_level("INFO")
    network = ["torus~dims=4x4", "dfsssp"]
    text = readme_of("opensm", "dfsssp", network[0])
    assert "packets of subnet administration" in caplog.text
    assert "**The proof leaves out** multicast, and packets of subnet administration" in text
    caplog.clear()
    result, topology = export_routes("opensm", network), table_of(network).topology
    addresses = addresses_of(topology)
    proof = tables_of_files(topology, addresses, result)
    assert sum(check_tables(proof, manager=host) is not None for host in range(16)) == 14
    caplog.clear()
    for replies in ("own", "same"):
        for host, name in ((0, "t0"), (6, addresses.terminal_guids[6])):
            files = export_routes(f"opensm~sm={name},replies={replies}", network)
            tables = tables_of_files(topology, addresses, files, host)
            assert check_tables(tables, replies="same", manager=host) is None
            assert f"must run on t{host}" in files["README.md"]
            assert files["routelab.lft"] == result["routelab.lft"]
    assert "subnet administration" not in caplog.text
    with pytest.raises(UnsupportedError, match="with 2 virtual lanes that are safe with packets"):
        export_routes("opensm~sm=t0,vls=2", ["torus~dims=5x5", "ib-balanced~vls=2"])
    with pytest.raises(InputError, match="sm=t99 is no host"):
        export_routes("opensm~sm=t99", network)


def test_too_few_lanes_for_such_levels_keep_those_of_the_routing_and_warn(caplog):
    network, routing = "torus~dims=5x5", "ib-balanced~vls=2"
    files = export_routes("opensm~vls=2", [network, routing])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "RDMA-CM sends them, can deadlock: routes on virtual channel" in caplog.text
    assert "**Warning**: replies must use" in files["README.md"]
    own = export_routes("opensm~vls=2,replies=own", [network, routing])
    assert files == own


def test_tables_beyond_the_hardware_are_rejected():
    with pytest.raises(UnsupportedError, match="needs 2 virtual lanes, has 1"):
        export_routes("opensm~vls=1", ["torus~dims=5", "dfsssp"])
    with pytest.raises(UnsupportedError, match=r"leave switch .*; an LFT has one port"):
        export_routes("opensm", ["random-regular~n=16,degree=3", "bfs@up-down"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # a host's packets back into the network; a port without a cable; a cut; no entry
        (lambda text: text.replace("0x0081 004", "0x0081 001", 1), "does not deliver"),
        (lambda text: re.sub(r"0x0083 00\d", "0x0083 077", text, count=1), "has no cable"),
        (lambda text: text[: text.index("0x0082", len(text) // 2)], "truncated"),
        (lambda text: re.sub(r"(?m)^0x0083 00\d.*\n", "", text, count=1), "no route leads"),
    ],
)
def test_damaged_tables_are_found_by_the_walk(fabric, exported, change, message):
    files = dict(fabric)
    files["routelab.lft"] = change(files["routelab.lft"])
    assert files["routelab.lft"] != fabric["routelab.lft"]
    topology = exported.topology
    with pytest.raises((InputError, UnsupportedError), match=message):
        tables_of_files(topology, addresses_of(topology), files)


def test_one_level_for_all_is_found_to_deadlock():
    table = Routing.from_name("dfsssp").table(load("topology", "torus~dims=5").build())
    files = load("export", "opensm~replies=own").export(table, Machine())
    files["qos-policy.conf"] = files["qos-policy.conf"].replace("sl: 1", "sl: 0")
    with pytest.raises(UnsupportedError, match="wait for each other in a cycle"):
        tables_of_files(table.topology, addresses_of(table.topology), files)


def test_guids_that_are_unknown_or_wrong_are_named(fabric, exported):
    topology = exported.topology
    for field, value, message in (
        ("switch_guids", ("", *topology.switch_guids[1:]), "switch 's0' has no GUID"),
        ("terminal_guids", ("x", *topology.terminal_guids[1:]), "terminal 'h0' has the GUID 'x'"),
    ):
        changed = replace(topology, **{field: value})
        with pytest.raises(UnsupportedError, match=message):
            addresses_of(changed)

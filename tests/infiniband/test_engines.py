"""The routing `opensm`: tables and service levels of a real OpenSM, compared with its tools."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from routelab.api import RouteTable, UnsupportedError
from routelab.deadlock import check_table
from routelab.metrics import channel_loads
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.testing.fingerprints import field_digests

NETWORKS = Path(__file__).parents[2] / "config" / "networks"
RANDOM = f"infiniband~file={NETWORKS / 'r64d6h1.net'}"
MESH = f"infiniband~file={NETWORKS / 'm8x8f6s1.net'}"


def routed(network: str, routing: str) -> RouteTable:
    topology = load("topology", network).build()
    return Routing.from_name(routing).table(topology)


@pytest.mark.parametrize(
    ("network", "engine", "load_", "lanes", "proven"),
    [
        # as measured before with OpenSM 3.3.23, by another reader
        (RANDOM, "minhop", 38, 1, False),
        (RANDOM, "dfsssp", 41, None, True),
        (MESH, "nue", 167, 8, True),
        ("torus~dims=3x3", "torus-2QoS", None, 2, True),
        ("fat-tree~k=4,levels=3", "ftree", 60, 1, True),
    ],
)
def test_engines_have_their_known_loads_and_verdicts(network, engine, load_, lanes, proven):
    table = routed(network, f"opensm~engine={engine}")
    assert check_table(table).proven is proven
    assert np.all(np.diff(table.pair_start) >= 1)
    assert table.counters["opensm_seconds"] > 0
    if load_ is not None:
        assert channel_loads(table).max() == load_
    if lanes is not None:
        assert table.virtual_channels == lanes


@pytest.mark.parametrize(
    "network",
    [
        "torus~dims=6x5",
        "torus~dims=6x5,failed_links=6-11",
        "torus~dims=6x5,failed_switches=16",
        "torus~dims=6x4,failed_links=0-1+6-7,failed_switches=20",
        "torus~dims=4x4x4,failed_switches=0",
        "torus~dims=4x5x5,failed_switches=19+15",
        "torus~dims=4x4x4,fail_links=3,seed=2",
        "torus~dims=4x4x4,fail_links=2,fail_switches=1,seed=5",
    ],
)
def test_torus_2qos_of_routelab_is_that_of_opensm_with_failures(network):
    """The same routes and lanes, hop by hop."""
    ours, theirs = routed(network, "torus-2qos"), routed(network, "opensm~engine=torus-2QoS")
    for field in ("path_start", "hop_channel", "hop_vc"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    assert check_table(ours).proven


def test_both_refuse_a_ring_in_two_parts():
    for routing in ("torus-2qos", "opensm~engine=torus-2QoS"):
        with pytest.raises(UnsupportedError):
            routed("torus~dims=6x5,failed_links=1-2+3-4", routing)


def test_levels_are_those_that_saquery_gets(simulate):
    table = routed(MESH, "opensm~engine=lash")
    topology = table.topology
    assert table.virtual_channels == 3
    fabric = simulate(NETWORKS / "m8x8f6s1.net")
    fabric.manage("-R", "lash,no_fallback", "-Q")
    lids = {
        guid: int(lid, 16)
        for lid, guid in re.findall(
            r"^(0x\w+) \d+ # Channel Adapter portguid (0x\w+)",
            (fabric.folder / "opensm-lfts.dump").read_text(),
            re.MULTILINE,
        )
    }
    seen = set()
    for source, target in [(0, 63), (9, 3), (30, 61), (63, 5), (17, 40), (50, 2)]:
        ends = [lids[topology.terminal_guids[end]] for end in (source, target)]
        answer = fabric.ask("saquery", "-p", "--src-to-dst", "{}:{}".format(*ends))
        level = int(re.search(r"\bsl\.+0x([0-9a-fA-F]+)", answer)[1], 16)
        endpoint = int(np.searchsorted(topology.endpoints, topology.terminal_switch[source]))
        path = table.pair_start[endpoint * table.num_destinations + target]
        assert set(table.hop_vc[slice(*table.path_start[path : path + 2])].tolist()) == {level}
        seen.add(level)
    assert len(seen) > 1


def test_two_runs_agree_and_an_engine_that_fails_is_not_replaced():
    first, second = (routed(RANDOM, "opensm~engine=nue,vls=2") for _ in range(2))
    assert first.virtual_channels == 2
    digests = [field_digests(table) for table in (first, second)]
    assert digests[0] == digests[1]
    with pytest.raises(UnsupportedError, match=r"OpenSM says: .*ERR"):
        routed(RANDOM, "opensm~engine=ftree")

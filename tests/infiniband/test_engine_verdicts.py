"""The check and ibdmchk agree about tables and service levels of every engine of OpenSM."""

from __future__ import annotations

import pytest
from engine_verdicts import RANDOM, verdicts_of

from routelab.cluster.infiniband.check import check_fabric

RING, TORUS, TREE = "torus~dims=5", "torus~dims=3x3", "fat-tree~k=4,levels=2"
LOOP, SAFE = (True, True), (False, False)
SAFE_AMONG_HOSTS = (False, None)
"""OpenSM's own levels may leave credit loops on routes from and to switches: its choice of them
differs from run to run."""


@pytest.mark.parametrize(
    ("network", "engine", "verdicts"),
    [
        (RING, "minhop", LOOP),
        (RING, "updn", SAFE),
        (RING, "dnup", LOOP),
        (RING, "dor", LOOP),
        (RING, "lash", SAFE),
        (RING, "sssp", LOOP),
        (RING, "dfsssp", SAFE_AMONG_HOSTS),
        (RING, "nue", SAFE_AMONG_HOSTS),
        (TORUS, "torus-2QoS", SAFE),
        (TREE, "ftree", SAFE),
        (TREE, "minhop", SAFE),
        (RANDOM, "dfsssp", SAFE_AMONG_HOSTS),
    ],
)
def test_verdicts_agree(network, engine, verdicts, tmp_path):
    compared = verdicts_of(network, engine, tmp_path)
    hosts, everything = verdicts
    assert compared.ours[0] == compared.theirs[0] == hosts
    if engine == "ftree":
        # spines have no routes to each other, and ibdmchk stops there
        assert (compared.ours[1], compared.theirs[1]) == (everything, None)
    else:
        assert compared.ours[1] == compared.theirs[1]
        assert everything in (None, compared.ours[1])


def test_missing_routes_between_spines_are_no_fault(tmp_path):
    verdicts_of(TREE, "ftree", tmp_path)
    check = check_fabric(
        tmp_path / "fabric.net",
        tmp_path / "opensm-lfts.dump",
        tmp_path / "levels.txt",
        tmp_path / "opensm-sl2vl.dump",
        bound_seconds=5,
    )
    assert (check.verdict, check.facts["unreachable_lids"]) == ("proven", 0)
    assert check.facts["lost_switch_pairs"] == 4 * 3

"""Costs of failures: pairs as naive walks lose them, entries as exports of the rest have them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from routelab.api import InputError, UnsupportedError
from routelab.registry.instances import load_routing
from routelab.stages.chain import reroute
from routelab.stages.export import export_routes
from routelab.stages.infiniband.columns import WHAT_IF
from routelab.stages.infiniband.inputs import FabricTables, read_fabric_tables
from routelab.stages.infiniband.what_if import Failure, costs_of_failures
from routelab.toolkit.infiniband import TextFile, parse_forwarding_tables

sys.path.insert(0, str(Path(__file__).parent))

from fabric_twin import FabricTwin

DATA = Path(__file__).parents[3] / "data" / "infiniband"
FABRIC = DATA / "fabric.topo"
ROUTING = "dfsssp~routes=terminals"


def exported(network: str):
    """Return forwarding tables of the routing, as the export writes them."""
    text = export_routes("opensm", [network, ROUTING]).files["routelab.lft"]
    return text, parse_forwarding_tables(TextFile.of("lft", text))


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> FabricTables:
    """The fabric with tables of the routing that reroutes it."""
    file = tmp_path_factory.mktemp("tables") / "lft"
    file.write_text(exported(f"infiniband~file={FABRIC}")[0])
    return read_fabric_tables(FABRIC, file)


@pytest.fixture(scope="module")
def costs(tables) -> list[Failure]:
    return costs_of_failures(tables, load_routing(ROUTING), "all", "all")


def test_every_failure_is_listed_once_the_worst_first(tables, costs):
    assert len(WHAT_IF) == len(costs[0].row)
    assert {one.routing for one in costs} == {load_routing(ROUTING).name}
    kinds = [one.kind for one in costs]
    assert (kinds[0], kinds.count("cable"), kinds.count("switch")) == ("none", 5, 4)
    assert len({one.failure for one in costs}) == 10
    losses = [one.lost_pairs for one in costs[1:]]
    assert losses == sorted(losses, reverse=True)
    # the same routing on the whole fabric changes nothing
    assert (costs[0].changed_entries, costs[0].unreachable_pairs) == (0, 0)


def test_lost_pairs_are_those_whose_packets_pass_the_failure(tables, costs):
    fabric, names = tables.fabric, tables.topology.switch_names
    node = {f"0x{fabric.nodes[i].guid:016x}": i for i in fabric.switches}
    nodes = [node[guid] for guid in tables.addresses.switch_guids]
    ports = {
        (nodes[switch], int(lid)): int(tables.entries.ports[switch, column])
        for switch in range(len(nodes))
        for column, lid in enumerate(tables.addresses.lids)
    }
    twin = FabricTwin(fabric, ports)
    by_name = {one.failure: one.lost_pairs for one in costs}
    lost = dict.fromkeys(by_name, 0)
    for source, target, passed in twin.arriving():
        visited = {switch for switch, _, _ in passed} | {
            twin.begin(source)[0],
            twin.begin(target)[0],
        }
        for switch in visited:
            lost[names[nodes.index(switch)]] += 1
        for switch, _, port in passed:
            end = f"{names[nodes.index(switch)]}:{port}"
            cable = (
                name for name in lost if name.startswith(f"{end} -") or name.endswith(f" {end}")
            )
            lost[next(cable)] += 1
    assert lost == by_name


@pytest.mark.parametrize("links", ["0-3", "2-3"])
def test_changed_entries_are_those_of_the_exported_rest(links, tables, costs):
    _, left = exported(f"infiniband~file={FABRIC},failed_links={links}")
    new = left.of_switches(tables.addresses.switch_guids)[:, tables.addresses.lids]
    one, other = links.split("-")
    cost = next(
        cost
        for cost in costs
        if cost.failure.startswith(f"s{one}:") and f" s{other}:" in cost.failure
    )
    assert cost.changed_entries == np.count_nonzero(new != tables.entries.ports) > 0
    assert cost.unreachable_pairs == 0


def test_single_failures_are_found_by_any_name_of_theirs(tables, costs):
    routing = load_routing(ROUTING)
    known = {one.failure: one for one in costs}
    for name in ("s0:3", "s3:2", "s0:3 - s3:2"):
        assert costs_of_failures(tables, routing, name, None)[1] == known["s0:3 - s3:2"]
    assert costs_of_failures(tables, routing, None, "s2")[1] == known["s2"]
    with pytest.raises(InputError, match=r"write SWITCH:PORT, such as s0:1$"):
        costs_of_failures(tables, routing, "s0:4", None)
    with pytest.raises(InputError, match="no switch of this name"):
        costs_of_failures(tables, routing, None, "s9")
    with pytest.raises(InputError, match="name the failures"):
        costs_of_failures(tables, routing, None, None)


@pytest.mark.parametrize(
    ("routing", "reason"),
    [("dor", "needs a torus or mesh"), ("forwarding-tables~file=no-file", "cannot read no-file")],
)
def test_a_routing_that_does_not_apply_is_wrong_input(tables, routing, reason):
    with pytest.raises(InputError, match=f"--routing {routing}: .*{reason}"):
        costs_of_failures(tables, load_routing(routing), "s0:3", None)


def test_a_failure_after_which_the_routing_does_not_apply_has_the_reason(tables, monkeypatch):
    def fragile(routing, topology):
        if topology.num_switches < 4:
            raise UnsupportedError("needs four switches")
        return reroute(routing, topology)

    monkeypatch.setattr("routelab.stages.infiniband.what_if.reroute", fragile)
    _, one = costs_of_failures(tables, load_routing(ROUTING), None, "s2")
    assert one.lost_pairs > 0
    assert (one.max_load, one.changed_entries) == (None, None)
    assert one.reason == "needs four switches"

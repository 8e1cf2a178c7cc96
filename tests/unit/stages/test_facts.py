"""What an algorithm says of itself stays apart from what was found out about its table."""

from dataclasses import replace

import pytest

from routelab.api import PluginError, build_grid
from routelab.registry.instances import load_routing
from routelab.stages.chain import apply_routing, prove
from routelab.stages.facts import routing_facts

ROUTED = apply_routing(build_grid("torus", (3, 2), wrap=True), load_routing("first@up-down"))


@pytest.mark.parametrize("name", ["max_load", "deadlock", "status", "optimal", "switches"])
def test_a_counter_does_not_pass_for_a_fact(name):
    claimed = replace(ROUTED, table=replace(ROUTED.table, counters={name: 1}))
    with pytest.raises(PluginError, match=f"counters {name} have the names of facts"):
        routing_facts(claimed, prove(claimed))


def test_other_counters_are_facts():
    counted = replace(ROUTED, table=replace(ROUTED.table, counters={"trees": 3}))
    facts = routing_facts(ROUTED, prove(ROUTED))
    assert routing_facts(counted, prove(counted)) == {**facts, "trees": 3}

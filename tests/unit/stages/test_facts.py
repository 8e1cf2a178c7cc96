"""What an algorithm says of itself stays apart from what was found out about its table."""

from dataclasses import replace

import pytest

from routelab.api import Measurement, MetricPlugin, PluginError
from routelab.registry.instances import load_routing
from routelab.stages.chain import apply_routing, prove
from routelab.stages.facts import routing_facts
from routelab.stages.route import route_network
from routelab.toolkit import build_grid

pytestmark = pytest.mark.builtins


@pytest.fixture(scope="module")
def routed():
    return apply_routing(build_grid("torus", (3, 2), wrap=True), load_routing("first@up-down"))


@pytest.mark.parametrize("name", ["max_load", "deadlock", "status", "optimal", "switches"])
def test_a_counter_does_not_pass_for_a_fact(routed, name):
    claimed = replace(routed, table=replace(routed.table, counters={name: 1}))
    with pytest.raises(PluginError, match=f"counters {name} have the names of facts"):
        routing_facts(claimed, prove(claimed))


def test_other_counters_are_facts(routed):
    counted = replace(routed, table=replace(routed.table, counters={"trees": 3}))
    facts = routing_facts(routed, prove(routed))
    assert routing_facts(counted, prove(counted)) == {**facts, "trees": 3}


class Said(MetricPlugin):
    """Tells what it was told to tell."""

    name = "said"
    summary = "What it was told to tell"

    def __init__(self, told: object) -> None:
        super().__init__()
        self.told = told

    def measure(self, table, graph):
        return self.told


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (None, "expected a list of Measurements, found None"),
        ([3], "expected a Measurement, found 3"),
        ([Measurement("a", "b")], "'a' is 'b', expected a number"),
        ([Measurement(None, 1.0)], "None is 1.0, expected a number"),
    ],
)
def test_a_metric_that_tells_no_numbers_fails_its_run_and_not_the_report(told, message):
    network = build_grid("torus", (3, 2), wrap=True)
    with pytest.raises(PluginError, match=f"said: {message}"):
        route_network(network, load_routing("first@up-down"), [Said(told)])

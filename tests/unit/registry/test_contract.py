from pathlib import Path

import pytest

from routelab.api import (
    BenchmarkPlugin,
    Citation,
    Column,
    Composition,
    EnginePlugin,
    HopRoutingPlugin,
    MetricPlugin,
    Parameters,
    PluginError,
    SelectionPlugin,
    TopologyPlugin,
    parameter,
)
from routelab.kernels.hops import ABI
from routelab.registry.contract import check_contract

CITED = Citation("On Turns", "10.1/2", "Algorithm 1")


class Ring(TopologyPlugin):
    name = "ring"
    summary = "A ring"
    citations = (CITED,)

    class Parameters(Parameters):
        size: int = parameter(4, ge=1, description="switches")

    def build(self):
        raise NotImplementedError


class Declaring(Ring):
    reads_files = (Path(__file__).name,)
    reads_variables = ("MODE",)


class Pick(SelectionPlugin):
    name = "ring"
    summary = "A selection"

    def select(self, graph):
        raise NotImplementedError


class Engine(EnginePlugin):
    name = "ring"
    summary = "An engine"
    work = "traffic"
    columns = (Column("found", "A number", of=("simulations",)),)

    class Parameters(Parameters):
        seed: int = parameter(0, description="seed")

    def run(self, case):
        raise NotImplementedError


class Mutable(Parameters, frozen=False):
    size: int = 3


class BadDefault(Parameters):
    size: int = parameter(0, ge=1)


class Required(Parameters):
    size: int = parameter(ge=1)


def problems(plugin, kind="topology"):
    with pytest.raises(PluginError) as error:
        check_contract(plugin, kind, "ring", "plugin topology/ring of rings 1.0")
    return str(error.value)


class Timer(BenchmarkPlugin):
    name = "ring"
    summary = "A timer"
    figure = "time"

    def executables(self, ranks):
        raise NotImplementedError

    def command(self, task):
        raise NotImplementedError

    def parse(self, output, task):
        raise NotImplementedError


def test_a_sound_plugin_passes():
    assert check_contract(Ring, "topology", "ring", "label") is Ring
    assert check_contract(Declaring, "topology", "ring", "label") is Declaring
    required = type("Sized", (Ring,), {"Parameters": Required})
    assert check_contract(required, "topology", "ring", "label") is required


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"name": "rong"}, "expected name to be the entry point's, 'ring', found 'rong'"),
        ({"summary": ""}, "expected summary to be one line of text, found ''"),
        ({"summary": "a\nb"}, "one line"),
        ({"summary": "A ring."}, "without a full stop"),
        ({"citations": ["smith2020"]}, "expected citations to be a sequence of Citation"),
        ({"citations": CITED}, "expected citations to be a sequence of Citation"),
        ({"capabilities": {"minimal": True}}, "expected capabilities to be a Capabilities"),
        ({"reads_files": "table.csv"}, "expected reads_files to be a sequence of paths as text"),
        ({"reads_files": [Path("a")]}, "expected reads_files to be a sequence of paths as text"),
        ({"reads_files": ["nowhere.csv", "../registry"]}, "to name files, found no file "),
        ({"reads_variables": "MODE"}, "names of environment variables, found 'MODE'"),
        ({"reads_variables": ["A=1"]}, "names of environment variables, found ['A=1']"),
        ({"reads_variables": [""]}, "names of environment variables, found ['']"),
        ({"Parameters": dict}, "expected Parameters to be a subclass of routelab.api.Parameters"),
        ({"Parameters": Mutable}, "expected Parameters to be frozen"),
        ({"Parameters": BadDefault}, "size=0: must be greater than or equal to 1"),
        (
            {"build": TopologyPlugin.build},
            "expected every method of its kind, found none for build",
        ),
    ],
)
def test_each_breach_is_reported(attributes, said):
    message = problems(type("Other", (Ring,), attributes))
    assert message.startswith("plugin topology/ring of rings 1.0: expected")
    assert said in message


def test_a_metric_says_plainly_whether_it_runs_by_default():
    class Count(MetricPlugin):
        name = "ring"
        summary = "A count"
        by_default = "no"

        def measure(self, table, graph):
            raise NotImplementedError

    assert "expected by_default to be True or False, found 'no'" in problems(Count, "metric")
    Count.by_default = False
    assert check_contract(Count, "metric", "ring", "label") is Count


@pytest.mark.parametrize("plugin", [Pick, Ring(), None])
def test_it_has_to_be_a_class_of_its_kind(plugin):
    assert "expected a subclass of TopologyPlugin, found" in problems(plugin)


def test_a_routing_may_be_any_of_three_classes():
    message = problems(Ring, "routing")
    assert "expected a subclass of RoutingPlugin or HopRoutingPlugin or Composition" in message


def test_a_composition_has_parts_and_no_parameters_of_its_own():
    class Mixed(Composition):
        name = "ring"
        summary = "A composition"
        rules = "turns@x"
        Parameters = Required

    message = problems(Mixed, "routing")
    assert "expected no Parameters" in message
    assert "expected selection to be the name of a selection plugin, found None" in message
    assert "expected rules to be the name of a rules plugin, found bad name" in message
    assert "layers" not in message


PACKAGED = """
from routelab.api import TopologyPlugin


class Ring(TopologyPlugin):
    name = "ring"
    summary = "A ring"

    def build(self):
        from packaged_ring.kernels import walk
"""


@pytest.mark.parametrize(
    ("kernels", "status", "said"),
    [
        ({}, "ok", ""),
        ({"packaged_ring/kernels.py": "walk = 1"}, "ok", ""),
        (
            {"packaged_ring/kernels.py": "import no_such_thing"},
            "broken",
            "expected packaged_ring.kernels to be importable, found ModuleNotFoundError",
        ),
    ],
)
def test_kernels_that_are_imported_late_are_tried_early(site, kernels, status, said):
    site.install(
        "rings",
        {"topology": {"ring": "packaged_ring:Ring"}},
        {"packaged_ring/__init__.py": PACKAGED, **kernels},
    )
    entry = site.catalogue().entry("topology", "ring")
    assert entry.status == status
    assert said in entry.cause


@pytest.mark.parametrize("figure", ["", 3, None])
def test_a_benchmark_says_which_figure_stands_for_it(figure):
    assert check_contract(Timer, "benchmark", "ring", "label") is Timer
    wrong = type("Wrong", (Timer,), {"figure": figure})
    assert f"name of a figure of merit, found {figure!r}" in problems(wrong, "benchmark")


@pytest.mark.parametrize(
    ("abi", "advice"),
    [
        (ABI - 1, "adapt its functions (docs/concepts/hop-by-hop.md) and set abi to"),
        (ABI + 1, "install a newer routelab"),
        (None, "adapt its functions"),
    ],
)
def test_another_abi_of_hop_by_hop_routing_is_rejected_with_advice(abi, advice):
    class Ring(HopRoutingPlugin):
        name, summary, proof = "ring", "A routing", "none"

        def prepare(self, topology, virtual_channels):
            raise NotImplementedError

    assert check_contract(Ring, "routing", "ring", "plugin routing/ring of rings 1.0") is Ring
    Ring.abi = abi
    message = problems(Ring, "routing")
    assert f"written for ABI {abi!r} of hop-by-hop routing, this routelab has ABI {ABI}" in message
    assert advice in message


class Formatted(Parameters):
    format: str = "csv"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"work": "packets"}, "expected work to be one of traffic, workload, found 'packets'"),
        (
            {"work": "workload"},
            "expected columns of flow-channels, flow-pairs, flow-ranks, flows, found found",
        ),
        ({"clock": ("seconds",)}, "expected clock to name columns, found seconds"),
        ({"brief": {"sed": 1}}, "expected brief to name parameters, found sed"),
        (
            {"columns": (Column("status", "A number", of=("simulations",)),)},
            "expected no column called like one of every row, found status",
        ),
        ({"Parameters": Formatted}, "expected no parameter called like an option of routelab"),
    ],
)
def test_an_engine_declares_its_work_and_columns(wrong, said):
    assert check_contract(Engine, "engine", "ring", "it") is Engine
    assert said in problems(type("Wrong", (Engine,), wrong), "engine")

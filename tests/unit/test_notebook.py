"""The notebook's functions against the command line, conservation laws and bare arrays."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import routelab
from routelab.api import InputError, RouteTable, RoutingPlugin, Topology, UnsupportedError
from routelab.cli import main
from routelab.routing.facts import FIELDS
from routelab.toolkit import build_grid


def test_importing_the_package_imports_nothing_else():
    code = (
        "import sys; before = set(sys.modules); import routelab; "
        "print(*(name for name in set(sys.modules) - before if name.startswith('routelab.')))"
        "; print([name for name in ('numpy', 'numba', 'pandas', 'logging', 'importlib.metadata')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours, heavy = done.stdout.splitlines()
    modules = ("", ".lazy_names", ".numba_hook", ".platforms")
    assert set(ours.split()) == {f"routelab._runtime{module}" for module in modules}
    assert heavy == "[]"


def test_evaluate_agrees_with_the_command_line(capsys):
    names = ["angara-bfs", "first@unrestricted"]
    frame = routelab.evaluate("torus~dims=4x2", names)
    assert list(frame.columns) == list(FIELDS)
    main(["evaluate", "torus~dims=4x2", *names, "--format", "csv"])
    printed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    for row, line in zip(frame.to_dict("records"), printed, strict=True):
        for field in set(FIELDS) - {"routing_seconds", "cpu_seconds"}:
            assert str(row[field]) == line[field]
    assert frame.attrs["topology"] == "torus~dims=4x2"
    reasons = [facts["deadlock_reason"] for facts in frame.attrs["facts"]]
    assert "rings" in reasons[0] or "ring" in reasons[0]


def test_evaluate_keeps_the_rows_of_routings_that_do_not_apply():
    network = build_grid("mesh", (3, 2), wrap=False)
    frame = routelab.evaluate(network, ["p-sssp@up-down", "angara-sssp"])
    assert frame["topology"].unique().tolist() == [network.family]
    assert frame["status"].tolist()[0] == "ok"
    alone = routelab.evaluate(network, "p-sssp@up-down")
    assert alone.loc[0, "max_load"] == frame.loc[0, "max_load"]
    assert routelab.evaluate(network, []).empty


def test_wrong_names_are_one_clear_message():
    with pytest.raises(InputError) as caught:
        routelab.evaluate("torus~dims=4x2", ["dorr", "dor", "angara-ssp"])
    lines = str(caught.value).splitlines()
    assert ["did you mean 'dor'?" in lines[0], "'angara-sssp'?" in lines[1]] == [True, True]
    with pytest.raises(InputError, match="did you mean 'torus'"):
        routelab.topology("tours~dims=4x2")
    with pytest.raises(InputError, match="did you mean 'dor'"):
        routelab.route("torus~dims=4x2", "dorr")
    with pytest.raises(InputError, match="did you mean 'topology'"):
        routelab.plugins("toplogy")


def test_a_routing_that_does_not_apply_says_why(tmp_path):
    (tmp_path / "net.txt").write_text("a b\nb c\n")
    with pytest.raises(UnsupportedError, match="dimension-order"):
        routelab.route(f"graph~file={tmp_path / 'net.txt'}", "dor")


class OneWay(RoutingPlugin):
    """Every switch of a ring sends over the only channel that leaves it."""

    name = "one-way"
    summary = "The only way round"

    def route(self, topology):
        leaving = np.argsort(topology.channel_source)
        next_hop = np.repeat(leaving[:, None], len(topology.endpoints), axis=1)
        next_hop[topology.endpoints, np.arange(len(topology.endpoints))] = -1
        return RouteTable.from_next_hops(topology, next_hop)


def test_an_algorithm_need_not_be_installed():
    ring = Topology.create(num_switches=4, channel_source=[0, 1, 2, 3], channel_target=[1, 2, 3, 0])
    routed = routelab.route(ring, OneWay())
    # 1 + 2 + 3 hops from each of 4 switches, over 4 channels
    assert routed.loads["load"].tolist() == [6, 6, 6, 6]
    assert (routed.facts["routing"], routed.verdict.proven) == ("one-way", False)
    assert len(routed.verdict.cycle) == 4
    frame = routelab.evaluate(ring, OneWay())
    assert frame[["routing", "max_load"]].to_numpy().tolist() == [["one-way", 6]]


def test_objects_that_are_no_algorithm_are_rejected():
    class Nameless(OneWay):
        name = None

    class Long(OneWay):
        summary = "Two\nlines"

    network = Topology.create(num_switches=1, channel_source=[], channel_target=[])
    for wrong, message in (
        (OneWay, "an object of a subclass of RoutingPlugin"),
        (Nameless(), "Nameless: expected name"),
        (Long(), "Long: expected summary to be one line"),
    ):
        with pytest.raises(InputError, match=message):
            routelab.route(network, wrong)


@pytest.fixture(scope="module")
def routed():
    return routelab.route("torus~dims=4x2x2", "angara-sssp")


def test_loads_add_up_to_the_hops_of_all_routes(routed):
    names = routed.topology.switch_names
    loads = routed.loads
    assert list(loads.columns) == ["source", "target", "direction", "load"]
    hops = sum(
        int(path.hops)
        for source in names
        for target in names
        for path in routed.routes(source, target).itertuples()
    )
    assert loads["load"].sum() == hops
    assert (loads["load"].max(), loads["load"].min()) == (
        routed.facts["max_load"],
        routed.facts["min_load"],
    )


def test_routes_are_walks_over_the_channels_they_name(routed):
    names = routed.topology.switch_names
    by_name = routed.routes(names[1], names[14])
    pd.testing.assert_frame_equal(by_name, routed.routes(1, 14))
    (path,) = by_name.itertuples()
    assert (path.weight, path.switches[0], path.switches[-1]) == (1.0, names[1], names[14])
    assert len(path.virtual_channels) == path.hops == len(path.switches) - 1
    for channel, source, target in zip(
        path.channels, path.switches[:-1], path.switches[1:], strict=True
    ):
        assert routed.loads.loc[channel, ["source", "target"]].tolist() == [source, target]
    assert routed.routes(3, 3)[["hops", "switches"]].to_numpy().tolist() == [[0, (names[3],)]]


def test_routes_to_a_terminal_by_its_name(tmp_path):
    """Two hosts of a leaf are reached over a spine each."""
    lines = ['{"nodes": [{"id": "a"}, {"id": "b"}, {"id": "s"}, {"id": "t"}']
    lines += [f', {{"id": "n{host}", "kind": "host"}}' for host in range(4)]
    links = ["as", "at", "bs", "bt"]
    ends = [*((a, b) for a, b in links), ("n0", "a"), ("n1", "a"), ("n2", "b"), ("n3", "b")]
    text = ", ".join(f'{{"source": "{a}", "target": "{b}"}}' for a, b in ends)
    (tmp_path / "tree.json").write_text("".join(lines) + f'], "links": [{text}]}}')
    routed = routelab.route(f"graph~file={tmp_path / 'tree.json'}", "dfsssp~routes=terminals")
    assert routed.facts["destination_based"] is routed.facts["per_terminal"] is True
    (first,), (other,) = (routed.routes("a", host).itertuples() for host in ("n2", "n3"))
    assert {first.switches, other.switches} == {("a", "s", "b"), ("a", "t", "b")}
    pd.testing.assert_frame_equal(routed.routes("a", 2), routed.routes("a", "n2"))
    with pytest.raises(InputError, match=r"no terminal 'n5'.*numbered 0 to 3"):
        routed.routes("a", "n5")


def test_a_switch_that_is_not_there(routed):
    with pytest.raises(InputError, match=r"no switch '0\.0\.9'.*called 0\.0\.0 to 3\.1\.1"):
        routed.routes("0.0.9", 0)
    with pytest.raises(InputError, match=r"no switch 16 .*numbered 0 to 15"):
        routed.routes(0, 16)
    with pytest.raises(InputError, match="no switch -1"):
        routed.routes(-1, 0)


def test_plugins_are_rows():
    frame = routelab.plugins("layers")
    assert {"none", "cycle-breaking"} <= set(frame["key"])
    assert set(frame["kind"]) == {"layers"}
    assert set(routelab.plugins()["kind"]) >= {"topology", "rules", "selection", "routing"}


def test_library_use_is_silent(capfd):
    code = "import routelab; routelab.evaluate('torus~dims=4', ['dor']); routelab.plugins()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_simulate_gives_frames_that_agree_with_each_other():
    quick = {"sample_cycles": 20, "max_cycles": 4000, "precision": 0.05}
    simulation = routelab.simulate("torus~dims=4x4", "dor", "uniform", loads=(0.1, 0.3), **quick)
    assert simulation.curve["load"].tolist() == [0.1, 0.3]
    flits = simulation.channels.groupby("load")["flits"].sum()
    assert flits.tolist() == simulation.curve["flit_hops"].tolist()
    assert simulation.terminals.groupby("load")["received"].mean().tolist() == pytest.approx(
        simulation.curve["accepted_load"].tolist()
    )
    assert simulation.latencies["share"].max() == 1
    assert repr(simulation) == "<uniform with dor on torus~dims=4x4: 2 loads, deadlock proven>"
    assert "latency_p99" in simulation._repr_html_()


def test_simulate_runs_workloads_with_another_engine():
    simulation = routelab.simulate(
        "torus~dims=4x2", "dor", "npb-cg~class=S", engine="flow", iterations=2
    )
    assert simulation.facts["engine"] == "flow"
    assert simulation.ranks["timed_s"].max() == simulation.facts["timed_s"]
    assert simulation.channels["bytes"].max() == simulation.facts["bottleneck_bytes"]
    assert simulation.curve.empty
    assert repr(simulation) == "<npb-cg~class=S with dor on torus~dims=4x2: engine flow>"
    assert "bottleneck_share" in simulation._repr_html_()
    with pytest.raises(InputError, match="did you mean 'flow'"):
        routelab.simulate("torus~dims=4x2", "dor", "npb-cg", engine="flwo")

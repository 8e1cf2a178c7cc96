"""Simulations in tables and figures."""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
import pandas as pd
import pytest

from routelab.api import InputError
from routelab.commands import simulate
from routelab.commands._shared.settings import settings_from_options
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.kinds.curve import STATE_MARKERS
from routelab.report.figures.omissions import absent_series
from routelab.report.figures.request import FigureRequest
from routelab.report.page.commands import row_command, simulate_command
from routelab.report.rows.study_rows import StudyRows
from routelab.report.tables import build_table
from routelab.results.outcome import Outcome, write_outcome
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.study import Figure, Table


def point(load, latency, state="stationary"):
    return {
        "load": load,
        "state": state,
        "saturated": state == "saturated",
        "seed": 0,
        "accepted_load": load,
        "latency_mean": latency,
        "latency_mean_low": latency and latency - 1,
        "latency_mean_high": latency and latency + 1,
        "utilisation_max": load,
        "cycles": 1000,
    }


CURVE = [point(0.1, 10.0), point(0.2, 14.0), point(0.3, None, "saturated")]


def views(world):
    return StudyRows(world.records, world.simulated)


def drawn(world, **spec):
    figure = Figure(**spec)
    return draw_figure(FigureRequest(figure, views(world).by_kind(figure.of), (), "here: "))


def table(world, **spec):
    view = Table(**spec)
    return build_table("t", view, views(world).by_kind(view.of), None, "here: ")


def test_a_row_is_a_load_with_settings_and_facts_of_the_table(world):
    world.add("dor", "4x2", load=[5])
    world.simulate("dor", curve=CURVE, vcs=2)
    world.simulate("rdr", status="unsupported")
    frame = views(world).loads.frame
    assert frame["load"].tolist()[:3] == [0.1, 0.2, 0.3]
    assert frame["routing"].tolist() == ["dor"] * 3 + ["rdr"]
    assert frame["status"].tolist() == ["ok"] * 3 + ["unsupported"]
    assert frame["simulation.vcs"].tolist() == frame["vcs"].tolist() == [2, 2, 2, 4]
    assert frame["max_load"].tolist()[:3] == [5, 5, 5]
    assert pd.isna(frame["max_load"][3])
    assert frame["nodes"].tolist() == [8] * 4
    assert frame["simulation"][0] == "vcs=2"


def test_routings_without_a_table_have_the_parameters_bare_names_too(world):
    """As beside a routing with one, which is another row of the same column."""
    world.add("dor", "4x2", load=[5], topology_parameters={"dims": "4x2"})
    for routing in ("dor", "rdr"):
        world.simulate(routing, curve=CURVE)
    assert views(world).loads.frame["dims"].tolist() == ["4x2"] * 6
    where = {"dims": "4x2", "load": 0.1}
    shown = table(world, of="loads", rows=["routing"], values=["latency_mean"], where=where)
    assert [row["routing"] for row in shown.rows] == ["dor", "rdr"]


def test_rows_must_distinguish_loads(world):
    world.simulate("dor", curve=CURVE)
    with pytest.raises(InputError) as raised:
        table(world, of="loads", rows=["routing"], values=["latency_mean"])
    assert (
        "do not distinguish dor on torus~dims=4x2 (traffic uniform, simulation default, load 0.1) f"
        in (str(raised.value))
    )
    rows = table(world, of="loads", rows=["routing", "load"], values=["latency_mean"]).rows
    assert [row["latency_mean"] for row in rows[:2]] == [10, 14]


def test_simulations_are_compared_under_the_same_traffic_and_load(world):
    for traffic, factor in (("uniform", 2), ("tornado", 4)):
        world.simulate("dor", curve=CURVE, traffic=traffic)
        slower = [row | {"latency_mean": (row["latency_mean"] or 0) * factor} for row in CURVE]
        world.simulate("rdr", curve=slower, traffic=traffic)
    rows = table(
        world,
        of="loads",
        rows=["traffic", "load", "routing"],
        values=["latency_mean_ratio"],
        relative={"to": "dor", "column": "latency_mean"},
        where={"load": {"max": 0.2}},
    ).rows
    ratios = [(row["traffic"], row["load"], row["latency_mean_ratio"]) for row in rows]
    assert ratios == [
        ("uniform", 0.1, 2),
        ("uniform", 0.2, 2),
        ("tornado", 0.1, 4),
        ("tornado", 0.2, 4),
    ]


def test_a_curve_ends_where_there_is_no_latency_and_says_why(world):
    world.simulate("dor", curve=CURVE)
    stuck = [point(0.1, 12.0), point(0.2, None, "deadlock")]
    world.simulate("bad", curve=stuck)
    drawing = drawn(world, of="loads", kind="curve", x="load", y="latency_mean")
    (axis,) = drawing.figure.axes
    assert axis.get_xlabel() == "offered load (flits per cycle)"
    lines = {tuple(line.get_xdata()) for line in axis.lines if len(line.get_xdata()) > 1}
    assert (0.1, 0.2) in lines
    marks = {
        (line.get_xdata()[0], line.get_marker())
        for line in axis.lines
        if line.get_clip_on() is False
    }
    assert marks == {(0.3, STATE_MARKERS["saturated"]), (0.2, STATE_MARKERS["deadlock"])}
    assert "a mark above: from there saturated, deadlock" in drawing.description
    data = drawing.data.set_index(["routing", "load"])
    assert data.loc[("dor", 0.2), ["latency_mean_low", "latency_mean_high"]].tolist() == [13, 15]
    assert pd.isna(data.loc[("dor", 0.3), "latency_mean"])
    # what a saturated network accepts is a number
    accepted = drawn(world, of="loads", kind="curve", x="load", y="accepted_load")
    assert accepted.data["accepted_load"].notna().all()


NO_PACKETS = [{"load": 9, "latency": 1, "count": 1}]
"""Of a load that is not simulated: the file is there and has nothing to tell of the others."""


def absent(world, **spec):
    figure = Figure(**spec)
    view = views(world).by_kind(figure.of)
    request = FigureRequest(figure, view, (), "here: ")
    drawing = draw_figure(request)
    return absent_series(request, drawing.data if drawing else None)


def test_a_series_without_values_is_reported_with_its_reason(world):
    world.simulate("dor", curve=CURVE, tables={"latencies": latencies([5], [1])})
    early = [point(0.1, None, "saturated"), point(0.2, None, "deadlock")]
    world.simulate("bad", curve=early, tables={"latencies": NO_PACKETS})
    world.simulate("lost", status="unsupported")
    curve = {"of": "loads", "kind": "curve", "x": "load", "y": "latency_mean"}
    notes = [
        "Without a value: bad (saturated at load 0.1; deadlock at load 0.2).",
        "Without a value: lost (no result: unsupported).",
    ]
    assert absent(world, **curve) == notes
    packets = {"of": "latencies", "kind": "ecdf", "x": "latency"}
    assert absent(world, **packets, where={"load": 0.1}) == [
        "Without a value: bad (saturated at load 0.1)."
    ]
    # nothing at all is drawn, and that is told, too
    assert absent(world, **packets, where={"routing": "bad"}) == notes[:1]
    # what a saturated network accepts is known
    assert absent(world, **{**curve, "y": "accepted_load"}) == notes[1:]


def latencies(values, counts):
    rows = [{"load": 0.1, "latency": v, "count": n} for v, n in zip(values, counts, strict=True)]
    return [*rows, {"load": 0.2, "latency": 99, "count": 5}]


def test_packets_have_a_distribution_by_their_latencies(world):
    lines = latencies([5, 6, 9], [3, 1, 4])
    world.simulate("dor", curve=CURVE, tables={"latencies": lines})
    drawing = drawn(world, of="latencies", kind="ecdf", x="latency", where={"load": 0.1})
    assert drawing.data["share"].tolist() == [3 / 8, 4 / 8, 1]
    assert drawing.figure.axes[0].get_ylabel() == "cumulative share of packets"


def test_a_histogram_has_the_share_of_each_value(world):
    counts = {2: 1, 3: 5, 5: 2}
    lines = [{"load": 0.1, "latency": None, "hops": n, "count": c} for n, c in counts.items()]
    world.simulate("dor", curve=CURVE, tables={"latencies": lines})
    drawing = drawn(world, of="latencies", kind="histogram", x="hops", lines=[4.0, 5.0])
    axis = drawing.figure.axes[0]
    steps = next(line for line in axis.lines if len(line.get_ydata()) > 2)
    assert set(np.round(steps.get_ydata(), 6)) == {0.0, 1 / 8, 5 / 8, 2 / 8}
    marks = [line.get_xdata()[0] for line in axis.lines if len(line.get_ydata()) == 2]
    assert marks == [4, 5]


def test_boxes_are_quantiles_of_everything_counted(world):
    values, counts = [5, 6, 7, 9], [3, 1, 1, 4]
    world.simulate("dor", curve=CURVE, tables={"latencies": latencies(values, counts)})
    drawing = drawn(
        world, of="latencies", kind="box", x="traffic", y="latency", where={"load": 0.1}
    )
    everything = np.repeat(values, counts)
    (row,) = drawing.data.to_dict("records")
    wanted = np.quantile(everything, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    assert [row[name] for name in ("min", "q25", "median", "q75", "max")] == wanted.tolist()
    assert (row["mean"], row["count"]) == (everything.mean(), 9)


def channels(network):
    return [
        {
            "load": load,
            "channel": c,
            "source": network.switch_names[network.channel_source[c]],
            "utilisation": load * c,
        }
        for load, c in product((0.1, 0.2), range(network.num_channels))
    ]


def test_channels_are_ranked_from_the_busiest_on(world, grid):
    lines = channels(grid([4, 2]))
    world.simulate("dor", curve=CURVE, tables={"channels": lines})
    data = drawn(world, of="channels", kind="ranked", y="utilisation", where={"load": 0.2}).data
    assert len(data) == 24
    assert data["utilisation"].tolist() == sorted((0.2 * c for c in range(24)), reverse=True)
    assert data["share"].tolist() == pytest.approx([(i + 1) / 24 for i in range(24)])


def test_a_heat_map_has_the_mean_of_the_channels_at_each_place(world, grid):
    network = grid([4, 2])
    world.simulate("dor", curve=CURVE, tables={"channels": channels(network)})
    drawing = drawn(
        world,
        of="channels",
        kind="heat",
        x="at_x",
        y="at_y",
        colour="utilisation",
        where={"load": 0.1},
    )
    for row in drawing.data.to_dict("records"):
        at = network.coordinates[network.channel_source] == (row["at_x"], row["at_y"])
        leaving = np.flatnonzero(at.all(axis=1))
        assert row["utilisation"] == pytest.approx(0.1 * leaving.mean())
        assert row["count"] == len(leaving)
    assert len(drawing.data) == 8


def test_a_heat_map_of_terminals_has_a_panel_for_each_routing(world):
    lines = [{"load": 0.1, "terminal": t, "received": t / 8} for t in range(8)]
    for routing in ("dor", "minimal"):
        world.simulate(routing, curve=CURVE[:1], tables={"terminals": lines})
    drawing = drawn(world, of="terminals", kind="heat", x="load", y="terminal", colour="received")
    assert drawing.data.groupby("routing")["received"].sum().to_dict() == {
        "dor": pytest.approx(3.5),
        "minimal": pytest.approx(3.5),
    }
    # the fields of runs have numbers, those of details do not
    assert not any(axis.texts for axis in drawing.figure.axes)


def test_a_damaged_table_of_channels_is_rejected(world):
    lines = [{"load": 0.1, "channel": 99, "source": "a", "utilisation": 1.0}]
    world.simulate("dor", curve=CURVE, tables={"channels": lines})
    with pytest.raises(
        InputError, match="has channel 99, but the network has 24; remove its folder"
    ):
        drawn(world, of="channels", kind="ranked", y="utilisation", where={"load": 0.1})


def test_terminals_of_a_closed_loop_have_a_throughput_of_their_own(world):
    curve = [point(0.0, 30.0, "finished") | {"cycles": 200}]
    terminals = [
        {"load": 0.0, "terminal": t, "received": 0.4, "throughput": throughput}
        for t, throughput in enumerate([0.4, 0.8, None])
    ]
    facts = {"terminal_throughput": 0.6}
    world.simulate("dor", curve=curve, tables={"terminals": terminals}, facts=facts, messages=3)
    data = drawn(world, of="terminals", kind="ecdf", x="throughput").data
    assert data["throughput"].tolist() == pytest.approx([0.4, 0.8])
    assert views(world).simulations.frame["terminal_throughput"][0] == pytest.approx(0.6)


def test_silent_terminals_are_left_out_and_do_not_count_as_zero(world):
    rates = [0.1, None, 0.3, 0.0]
    terminals = [
        {"load": 0.1, "terminal": t, "accepted": rate, "received": 0.1, "finished_at": None}
        for t, rate in enumerate(rates)
    ]
    world.simulate("dor", curve=CURVE, tables={"terminals": terminals})
    where = {"load": 0.1}
    data = drawn(world, of="terminals", kind="ecdf", x="accepted", where=where).data
    assert data["accepted"].tolist() == [0, 0.1, 0.3]
    (box,) = drawn(
        world, of="terminals", kind="box", x="traffic", y="accepted", where=where
    ).data.to_dict("records")
    assert (box["count"], box["mean"]) == (3, pytest.approx(0.4 / 3))


def test_commands_simulate_the_same_again(world):
    record = world.simulate(
        "dor", curve=CURVE, vcs=2, loads=(0.1, 0.2, 0.3), find_saturation=True, priority="random"
    )
    parser = argparse.ArgumentParser()
    # the command's parser adds its settings when it is used
    simulate._add_settings(parser)
    words = simulate_command(record, record.engine).split()
    assert words[:5] == ["routelab", "simulate", "torus~dims=4x2", "dor", "uniform"]
    options = vars(parser.parse_args(words[5:]))
    assert settings_from_options(SimulationSettings, options) == record.engine.parameters

    command = "routelab simulate torus~dims=4x2 dor uniform --vcs 2 --priority random --load"
    assert row_command(views(world).loads, 0) == f"{command} 0.1"


def test_rows_have_the_facts_of_their_network_without_a_table(world):
    record = world.simulate("hops", curve=[point(0.1, 5)])
    outcome = Outcome("topology", record.topology, facts={"diameter": 3})
    write_outcome(outcome, record.topology_directory / "outcome.json")
    views = StudyRows(world.records, world.simulated)
    assert views.loads.frame["diameter"].tolist() == [3]
    assert views.simulations.frame["diameter"].tolist() == [3]


def test_a_series_missing_in_one_panel_is_reported_with_the_panel(world):
    for routing, state in (("dor", "stationary"), ("rdr", "saturated")):
        for traffic in ("uniform", "tornado"):
            lost = state == "saturated" and traffic == "tornado"
            lines = NO_PACKETS if lost else latencies([5], [1])
            curve = [point(0.1, None if lost else 9.0, state if lost else "stationary")]
            world.simulate(routing, curve=curve, traffic=traffic, tables={"latencies": lines})
    spec = {"of": "latencies", "kind": "box", "x": "routing", "y": "latency"}
    assert absent(world, **spec, col="traffic") == [
        "Without a value: rdr in tornado (saturated at load 0.1)."
    ]
    assert absent(world, **spec) == []

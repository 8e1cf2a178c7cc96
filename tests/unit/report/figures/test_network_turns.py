"""Pictures of prohibited turns, segments and credit loops show what is in the runs' files."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from routelab.api import InputError
from routelab.report.figures.channel_styles import GROUP_COLOURS, NO_GROUP
from routelab.report.figures.drawing import write_drawing
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.network_picture import picture_of
from routelab.report.rows.routes import RouteRows
from routelab.routing.route import route_network, write_routes
from routelab.routing.routing import Routing
from routelab.study import Figure

SVG = "{http://www.w3.org/2000/svg}"
SEGMENTS = Figure(kind="network", colour="segment", turns=True)
CYCLE = Figure(kind="network", colour="cycle")


@pytest.fixture
def routed(world, grid):
    """Route a torus, and write the run's files."""

    def route(routing, dims="3x4"):
        network = grid([int(size) for size in dims.split("x")])
        result, facts, measured = route_network(network, Routing.from_name(routing))
        record = world.add(routing, dims, facts=facts)
        write_routes(result, measured, record.directory, {})
        return result, facts

    return route


def drawn(world, spec):
    return draw_figure(FigureRequest(spec, RouteRows(world.records), (), "here: "))


def strokes(folder, group):
    """Return the colours of the lines of a group in the picture, and their tooltips."""
    root = ET.parse(folder / "f.svg").getroot()
    (element,) = [node for node in root.iter(f"{SVG}g") if node.get("id") == group]
    lines = element.findall(f"{SVG}path")
    colours = [re.search(r"stroke: (#\w+)", line.get("style"))[1] for line in lines]
    return list(zip(colours, [line.find(f"{SVG}title").text for line in lines], strict=True))


def test_the_picture_has_each_segment_and_each_restriction(world, routed, tmp_path):
    result, facts = routed("first@segment")
    drawing = drawn(world, SEGMENTS)
    write_drawing(drawing, tmp_path / "f.svg")
    graph = result.graph
    picture = picture_of(graph.topology)
    lines = strokes(tmp_path, "channels-0")
    assert len(lines) == len(picture.lines)
    assert all(colour in GROUP_COLOURS for colour, _ in lines)
    shown = {text for _, text in lines}
    names = map(graph.topology.channel_name, range(graph.topology.num_channels))
    segments = graph.channel_facts["segment"]
    assert shown == {f"{n}: segment {s}" for n, s in zip(names, segments, strict=True)}
    # 24 links between 12 switches have 13 independent cycles
    assert facts["restrictions"] >= facts["segments"] == 13
    assert len(strokes(tmp_path, "turns-0")) == facts["restrictions"]
    numbers = [text.get_text() for text in drawing.figure.axes[0].texts if text.get_bbox_patch()]
    assert numbers == [str(number) for number in range(1, 14)]


def test_the_list_has_the_restrictions_of_each_segment(world, routed):
    _, facts = routed("first@segment~order=greedy")
    ((_, rows),) = drawn(world, SEGMENTS).turns.items()
    expected = set()
    for line in facts["segment_list"].splitlines():
        for turn in line.partition("prohibited ")[2].split(", "):
            before, switch, after = turn.split("-")
            expected.add((int(line.split()[0]), switch, frozenset((before, after))))
    listed = set()
    for row in rows:
        # a unitary segment prohibits turns into links of earlier ones
        segment = max(map(int, row["segment"].split(", ")))
        listed.add((segment, row["switch"], frozenset((row["from"], row["to"]))))
    assert listed == expected
    assert {row["and back"] for row in rows} == {"yes"}
    assert len(rows) == len(expected)


def test_other_rules_of_turns_have_marks_and_rules_of_states_have_none(world, routed):
    turns = routed("first@turn-prohibition")[0].graph.prohibited
    routed("first@up-down")
    drawing = drawn(world, Figure(kind="network", colour="load", turns=True))
    ((title, rows),) = drawing.turns.items()
    assert title == "first@turn-prohibition"
    assert sum(1 + (row["and back"] == "yes") for row in rows) == len(turns) > 0
    assert "segment" not in rows[0]
    assert not (world.records[1].directory / "turns.csv").exists()
    assert drawn(world, Figure(kind="network", colour="load")).turns == {}


def test_a_damaged_list_of_turns_is_reported(world, routed):
    routed("first@segment")
    (world.records[0].directory / "turns.csv").write_text("from,switch\n0,1\n")
    with pytest.raises(InputError, match=r"turns.csv is damaged"):
        drawn(world, SEGMENTS)


def test_the_cycle_of_a_refuted_table_is_drawn_and_no_other_channel(world, routed, tmp_path):
    result, _ = routed("first@unrestricted")
    assert routed("first@segment")[0].verdict.proven
    drawing = drawn(world, CYCLE)
    write_drawing(drawing, tmp_path / "f.svg")
    topology = result.table.topology
    witness = {topology.channel_name(channel) for channel, _ in result.verdict.cycle}
    coloured = {
        text.partition(":")[0]
        for colour, text in strokes(tmp_path, "channels-0")
        if colour != NO_GROUP
    }
    assert coloured == witness
    assert {colour for colour, _ in strokes(tmp_path, "channels-1")} == {NO_GROUP}
    notes = [axis.get_title(loc="left").splitlines()[1] for axis in drawing.figure.axes]
    assert notes == [f"{len(witness)} of 48 channels", "0 of 48 channels"]
    assert [len(steps) for steps in drawing.cycles.values()] == [len(witness)]
    data = drawing.data
    assert (data.groupby("routing")["cycle"].sum() == [0, len(witness)]).all()

"""The export `angara`: tables by hand, tables of every algorithm, and what is wrong with files."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import (
    Direction,
    InputError,
    PluginError,
    RouteTable,
    Topology,
    UnsupportedError,
)
from routelab.registry.instances import CompleteRouting, load, load_routing
from routelab.results.exports import export_files, file_mismatch, table_mismatch
from routelab.routing.routing import Routing
from routelab.toolkit import build_grid
from routelab.toolkit.machine import Machine
from routelab_plugins.export.angara import AngaraExport
from routelab_plugins.export.angara.entries import (
    RouteEntry,
    entry_directions,
    entry_of_route,
    entry_text,
    parse_entry,
)

PLUGIN = AngaraExport()
ALGORITHMS = ("angara-sssp", "angara-bfs", "angara-balanced", "sssp@angara~turns=exact")


def on_grid(dims, routing="angara-sssp", wrap=True, **more):
    topology = build_grid("torus" if wrap else "mesh", dims, wrap=wrap, **more)
    return Routing.from_name(routing).table(topology)


@cache
def small():
    """A torus of 4x2 by direction order, and its files."""
    table = on_grid((4, 2), "first@direction-order")
    return table, PLUGIN.export(table, Machine())


NETWORK = """\
angara-network 1
dims 3 2
rings X
# node COORDINATES TERMINALS "NAME"
node 0.0 0 "0.0"
node 0.1 1 "0.1"
node 1.0 2 "1.0"
node 1.1 3 "1.1"
node 2.0 4 "2.0"
node 2.1 5 "2.1"
# link NODE DIRECTION NODE
link 0.0 +X 1.0
link 0.0 +Y 0.1
link 0.0 -X 2.0
link 0.1 +X 1.1
link 0.1 -X 2.1
link 0.1 -Y 0.0
link 1.0 +X 2.0
link 1.0 +Y 1.1
link 1.0 -X 0.0
link 1.1 +X 2.1
link 1.1 -X 0.1
link 1.1 -Y 1.0
link 2.0 +X 0.0
link 2.0 +Y 2.1
link 2.0 -X 1.0
link 2.1 +X 0.1
link 2.1 -X 1.1
link 2.1 -Y 2.0
"""
# by hand: to 2.1 +Y then +X +X needs +Y as a first step; to 1.1 -X -X then +Y is in no order, so
# it goes +Y -X -X, which is; the others are single hops
NODE_0_0 = """\
angara-node 1
node 0.0
# DESTINATION FIRST BITS HOPS LAST
0.1 - +Y 0,+1 -
1.0 - +X +1,0 -
1.1 - +Y-X -2,+1 -
2.0 - -X -1,0 -
2.1 +Y +X +2,0 -
"""
# to 0.0 -Y and then -X needs -X as a last step; to 1.0 +X -Y is in order; 2.0 is not reached
NODE_1_1 = """\
angara-node 1
node 1.1
# DESTINATION FIRST BITS HOPS LAST
0.0 - -Y 0,-1 -X
0.1 - -X -1,0 -
1.0 - -Y 0,-1 -
2.0 unreachable
2.1 - +X +1,0 -
"""


def test_tables_by_hand():
    topology = build_grid("torus", (3, 2), wrap=True)
    names = dict(zip(topology.switch_names, range(6), strict=True))
    out = {
        (int(source), topology.directions[direction].name): channel
        for channel, (source, direction) in enumerate(
            zip(topology.channel_source, topology.channel_direction, strict=True)
        )
    }
    ways = {
        ("0.0", "0.1"): ["+Y"],
        ("0.0", "1.0"): ["+X"],
        ("0.0", "1.1"): ["+Y", "-X", "-X"],
        ("0.0", "2.0"): ["-X"],
        ("0.0", "2.1"): ["+Y", "+X", "+X"],
        ("1.1", "0.0"): ["-Y", "-X"],
        ("1.1", "0.1"): ["-X"],
        ("1.1", "1.0"): ["-Y"],
        ("1.1", "2.1"): ["+X"],
    }
    lengths, hops = [], []
    for a in names:
        for b in names:
            way = [] if a == b else ways.get((a, b))
            lengths.append(-1 if way is None else len(way))
            here = names[a]
            for direction in way or ():
                hops.append(out[here, direction])
                here = topology.channel_target[hops[-1]]
    table = RouteTable.from_lengths(topology, lengths, hops)
    files = export_files(PLUGIN, table, Machine())
    assert sorted(files) == ["network.txt", *(f"node-{name}.txt" for name in names)]
    assert files["network.txt"] == NETWORK
    assert files["node-0.0.txt"] == NODE_0_0
    assert files["node-1.1.txt"] == NODE_1_1
    assert files["node-2.0.txt"].count("unreachable") == 5


@settings(max_examples=60)
@given(
    dims=st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple),
    wrap=st.booleans(),
    routing=st.sampled_from(ALGORITHMS),
    links=st.integers(0, 2),
    terminals=st.integers(1, 2),
    seed=st.integers(0, 20),
)
def test_tables_of_algorithms_come_back(dims, wrap, routing, links, terminals, seed):
    links = links if len(dims) > 1 else 0
    topology = build_grid(
        "torus" if wrap else "mesh", dims, wrap, terminals=terminals, fail_links=links, seed=seed
    )
    plan = load_routing(routing)
    if isinstance(plan, CompleteRouting) and plan.plugin.supports(topology):
        return
    table = Routing(plan).table(topology)
    assert PLUGIN.supports(table) is None
    files = PLUGIN.export(table, Machine())
    copy = PLUGIN.read(files)
    assert table_mismatch(table, copy) is None
    assert np.array_equal(copy.topology.coordinates, topology.coordinates)
    assert np.array_equal(copy.topology.channel_direction, topology.channel_direction)
    # nothing that is written is lost
    assert PLUGIN.export(copy, Machine()) == files


def test_the_genetic_algorithm_and_failed_nodes():
    for table in (
        on_grid((4, 2), "angara-genetic"),
        on_grid((4, 2, 2), failed_switches=[5], failed_links=["0-1"]),
        on_grid((4, 4), nodes=[0, 3, 12, 15]),
    ):
        assert table_mismatch(table, PLUGIN.read(export_files(PLUGIN, table, Machine()))) is None


@st.composite
def entries(draw):
    dims = draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))
    n = len(dims)
    hops = tuple(draw(st.integers(1 - size, size - 1)) for size in dims)
    bits = frozenset(d if count > 0 else d + n for d, count in enumerate(hops) if count)
    first = draw(st.none() | st.integers(0, n - 1)) if bits else draw(st.integers(0, n - 1))
    last = draw(st.none() | st.integers(n, 2 * n - 1)) if bits else None
    return dims, RouteEntry(first, bits, hops, last)


@given(entries())
def test_every_entry_is_written_and_followed(drawn):
    dims, entry = drawn
    assert parse_entry(entry_text(entry).split(" "), dims) == entry
    # by the rules in words: first step, then ascending directions, then the last step
    route = list(entry_directions(entry))
    whole = sum(map(abs, entry.hops)) + (entry.first is not None) + (entry.last is not None)
    assert len(route) == whole
    begin = 0 if entry.first is None else 1
    ordered = route[begin : whole - (entry.last is not None)]
    assert ordered == sorted(ordered)
    # another spelling of the same hops may have fewer extra steps, and never other hops
    again = entry_of_route(route, dims)
    assert isinstance(again, RouteEntry)
    assert list(entry_directions(again)) == route
    extras = [(each.first is not None) + (each.last is not None) for each in (again, entry)]
    assert extras[0] <= extras[1]


@given(st.data())
def test_a_route_is_spelled_if_any_entry_spells_it(data):
    """The naive twin looks through all entries there are."""
    dims = (3, 3)
    route = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)))
    assert isinstance(entry_of_route(route, dims), RouteEntry) == (route in _all_routes(dims))


@cache
def _all_routes(dims):
    routes = set()
    for x in range(1 - dims[0], dims[0]):
        for y in range(1 - dims[1], dims[1]):
            middle = [0] * max(x, 0) + [1] * max(y, 0) + [2] * max(-x, 0) + [3] * max(-y, 0)
            for first in ([], [0], [1]):
                for last in ([], [2], [3]) if middle else ([],):
                    routes.add((*first, *middle, *last))
    return routes


def test_a_route_against_the_order_is_refused_by_name():
    # dimension order; +X and -X are equally far here, and it takes -X
    table = on_grid((4, 4), "dor")
    said = PLUGIN.supports(table)
    assert said == (
        "the route from 0.0 to 2.1 is not an Angara route: -X before +Y, and no first step "
        "(positive) or last step (negative) makes it legal"
    )
    with pytest.raises(UnsupportedError, match=r"^angara: the route from 0\.0 to 2\.1 "):
        export_files(PLUGIN, table, Machine())


def two_rings(closed):
    """Two nodes, joined by a line or, wrongly, by a ring."""
    ends = [(0, 1, 0), (1, 0, 1)] + [(1, 0, 0), (0, 1, 1)] * closed
    return Topology.create(
        num_switches=2,
        channel_source=[source for source, _, _ in ends],
        channel_target=[target for _, target, _ in ends],
        channel_direction=[direction for _, _, direction in ends],
        directions=[Direction("+X", 0, 1), Direction("-X", 0, -1)],
        coordinates=[[0], [1]],
    )


def test_networks_that_are_none_of_angara():
    def said(topology):
        ends = len(topology.endpoints)
        routes = np.where(np.eye(ends, dtype=bool), 0, -1)
        return PLUGIN.supports(RouteTable.from_lengths(topology, routes, []))

    assert said(two_rings(closed=False)) is None
    assert said(two_rings(closed=True)) == "1>0 +X does not lead to the neighbour there"
    assert "5 dimensions, and Angara has at most 4" in said(build_grid("torus", (2,) * 5, True))
    assert "direction labels" in said(
        Topology.create(num_switches=2, channel_source=[0, 1], channel_target=[1, 0])
    )


def test_tables_that_no_node_holds():
    table = small()[0]
    twice = table.with_vcs(np.arange(len(table.hop_vc)) % 2)
    assert PLUGIN.supports(twice) == "the routes need 2 virtual channels, and there is one"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1.0 - +X +1,0 -", "1.0 - +X +2,0 -", "from 0.0 to 1.0: the route ends at 2.0"),
        ("1.0 - +X +1,0 -", "1.0 - -X +1,0 -", "the direction bits are -X, and the hops +1,0 go"),
        ("1.0 - +X +1,0 -", "1.0 -X +X +1,0 -", "the first step is -X, expected - or one of +X"),
        ("1.0 - +X +1,0 -", "1.0 - +X +1,0 +X", "the last step is +X, expected - or one of -X"),
        ("1.0 - +X +1,0 -", "1.0 - +X +1,0 -Y", "0.0 to 1.0: 1.0 has no link -Y"),
        ("1.0 - +X +1,0 -", "1.0 +X - 0,0 -Y", "there are no hops between first and last step"),
        ("1.0 - +X +1,0 -", "1.0 - +X +4,0 -", "+4 hops along X, which has 4 nodes in a line"),
        ("1.0 - +X +1,0 -", "1.0 - +X 1,0 -", "'1,0' is not a list of hops along 2 dimensions"),
        ("1.0 - +X +1,0 -", "1.0 - +Z +1,0 -", "'+Z' is not a list of direction bits"),
        ("1.0 - +X +1,0 -", "1.0  - +X +1,0 -", "5 words, expected FIRST BITS HOPS LAST"),
        ("1.0 - +X +1,0 -\n", "", "no line for the destination 1.0"),
        ("1.0 - +X +1,0 -", "9.0 - +X +1,0 -", "there is no destination 9.0"),
        ("2.0 - +X +2,0 -", "1.0 - +X +1,0 -", "the destination 1.0 occurs twice"),
        ("angara-node 1", "angara-node 2", "'angara-node 2', expected 'angara-node 1'"),
        ("node 0.0\n", "node 0.1\n", "'node 0.1', expected 'node 0.0'"),
    ],
)
def test_a_damaged_table_is_rejected(old, new, said):
    files = dict(small()[1])
    text = files["node-0.0.txt"]
    assert old in text
    files["node-0.0.txt"] = text.replace(old, new, 1)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        PLUGIN.read(files)
    assert str(error.value).startswith("angara: node-0.0.txt: ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("angara-network 1", "angara-network 9", "line 1: 'angara-network 9', expected"),
        ("dims 4 2", "dims 4 2 2 2 2", "line 2: 'dims 4 2 2 2 2', expected for example"),
        ("rings X", "rings Y", "line 3: 'rings Y', expected 'rings -' or dimensions of three"),
        ("rings X", "rings -", "3.0 is not the neighbour of 0.0 in direction -X"),
        ('node 0.1 1 "0.1"', 'node 0.0 1 "0.1"', "the node 0.0 occurs twice"),
        ('node 0.1 1 "0.1"', 'node 0.2 1 "0.1"', "there is no node 0.2 in a grid of 4x2"),
        ('node 0.1 1 "0.1"', 'node 0.1 0 "0.1"', "the terminal 0 occurs twice"),
        ('node 0.1 1 "0.1"', 'node 0.1 1,1 "0.1"', "the terminal 1 occurs twice"),
        ('node 0.1 1 "0.1"', 'node 0.1 1 "0.0"', "two switches have the same name"),
        ('node 0.1 1 "0.1"', 'node 0.1 a "0.1"', "'a' is not a list of terminals"),
        ("link 0.0 +X 1.0", "link 0.0 +X 2.0", "2.0 is not the neighbour of 0.0 in direction +X"),
        ("link 0.0 +X 1.0", "link 0.0 +Z 1.0", "there is no direction +Z, only +X, +Y, -X, -Y"),
        ("link 0.0 +X 1.0", "link 7.0 +X 1.0", "there is no node 7.0 above"),
        ("link 0.0 +X 1.0", "link 0.0 +Y 0.1", "the link 0.0 +Y occurs twice"),
        ("link 0.0 +X 1.0", "lnk 0.0 +X 1.0", "'lnk 0.0 +X 1.0' is neither a node nor a link"),
        ("angara-network 1\n", "", "expected 'angara-network 1'"),
    ],
)
def test_a_damaged_network_is_rejected(old, new, said):
    files = dict(small()[1])
    assert old in files["network.txt"]
    files["network.txt"] = files["network.txt"].replace(old, new, 1)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        PLUGIN.read(files)
    assert str(error.value).startswith("angara: network.txt: ")


def test_missing_and_strange_files_are_rejected():
    files = small()[1]
    with pytest.raises(InputError, match=r"network\.txt not found"):
        PLUGIN.read({})
    with pytest.raises(InputError, match=r"node-0\.1\.txt not found"):
        PLUGIN.read({name: text for name, text in files.items() if name != "node-0.1.txt"})
    with pytest.raises(InputError, match=r"network\.txt has no node with a table node-7\.7\.txt"):
        PLUGIN.read(files | {"node-7.7.txt": ""})
    # what a site keeps beside them is its own
    assert file_mismatch(PLUGIN, small()[0], files | {"hosts.txt": "0 a\n"}) is None


FIELDS = [
    (node, line, word)
    for node in ("0.0", "1.1", "3.0")
    for line in range(3, 10)
    for word in range(1, 5)
]


@given(
    st.sampled_from(FIELDS),
    st.sampled_from(["-", "+X", "+Y", "-X", "-Y", "+X+Y", "+X-Y", "+Y-X", "-X-Y"]),
    st.tuples(st.integers(-3, 3), st.integers(-1, 1)),
)
def test_no_mutation_of_a_field_passes(field, word, hops):
    """Whatever is changed is found, unless it spells the very same hops."""
    table, files = small()
    node, line, place = field
    lines = files[f"node-{node}.txt"].splitlines()
    words = lines[line].split(" ")
    entry = parse_entry(words[1:], (4, 2))
    words[place] = ",".join(f"{n:+d}" if n else "0" for n in hops) if place == 3 else word
    lines[line] = " ".join(words)
    mutated = files | {f"node-{node}.txt": "\n".join(lines) + "\n"}
    try:
        same = list(entry_directions(parse_entry(words[1:], (4, 2)))) == list(
            entry_directions(entry)
        )
    except InputError:
        same = False
    try:
        mismatch = file_mismatch(PLUGIN, table, mutated)
    except InputError:
        assert not same
    else:
        assert (mismatch is None) == same


def test_a_writer_that_errs_is_caught(monkeypatch):
    """Every export is read back before anything is written."""
    table = small()[0]
    written = PLUGIN.export(table, Machine())
    for wrong, said in (
        ({"node-0.0.txt": written["node-0.0.txt"].replace("2.0 - +X +2", "2.0 - -X -2")}, "take"),
        ({"node-0.0.txt": written["node-0.0.txt"].replace("2.0 - +X +2", "2.0 - +X +3")}, "ends"),
    ):
        monkeypatch.setattr(AngaraExport, "export", lambda *_, wrong=wrong: written | wrong)
        with pytest.raises(PluginError, match=rf"export/angara: .*0\.0 to 2\.0.* {said}"):
            export_files(load("export", "angara"), table, Machine())

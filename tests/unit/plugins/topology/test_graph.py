"""Networks from files: every format, every way in which a file can be wrong."""

import gzip
import io
import json
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab_plugins.topology.graph import Graph

ZOO = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://example.org/drawing">
  <key attr.name="label" attr.type="string" for="node" id="d1"/>
  <key attr.name="terminals" attr.type="int" for="node" id="d2"><default>2</default></key>
  <key attr.name="capacity" attr.type="double" for="edge" id="d3"/>
  <key for="node" id="d4" yfiles.type="nodegraphics"/>
  <graph edgedefault="undirected">
    <node id="0"><data key="d1">Wien</data><data key="d2">4</data></node>
    <node id="1"><data key="d1">None</data>
      <data key="d4"><y:Shape><y:graph>box</y:graph></y:Shape></data></node>
    <node id="2"><data key="d1">None</data><data key="d2">0</data></node>
    <node id="3"><data key="d1">1</data></node>
    <edge source="0" target="1"><data key="d3">10</data></edge>
    <edge source="1" target="0"/>
    <edge source="2" target="2"/>
    <edge source="2" target="3" directed="true"/>
  </graph>
</graphml>
"""


@pytest.fixture
def build(tmp_path):
    def build(name, content, **values):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Graph(file=file, **values).build()

    return build


def channels(topology):
    return list(
        zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    )


def test_an_edge_list(build):
    topology = build(
        "net.txt",
        "# a comment\nb a\n\na c 2.5   # an ignored weight\nc#1\tb {'weight': 3}\nb a\n",
        repeats="parallel",
    )
    assert topology.switch_names == ("b", "a", "c", "c#1")
    # an edge is two channels, and the parallel edge stays
    assert channels(topology) == [(0, 1), (1, 0), (1, 2), (2, 1), (3, 0), (0, 3), (0, 1), (1, 0)]
    assert topology.family == "graph"
    assert topology.num_terminals == 4
    assert topology.attributes["self_loops_dropped"] == 0


def test_numbered_switches_come_in_the_order_of_their_numbers(build):
    topology = build("net.edges", "10 2\n2 0\n", directed=True)
    assert topology.switch_names == ("0", "2", "10")
    assert channels(topology) == [(2, 1), (1, 0)]


def test_csv_with_capacity_and_latency(build):
    topology = build(
        "net.csv",
        "\ufeff# links\nSource, target,weight,latency,capacity\n"
        '"New York",Rome,7,1e-6,2\nRome,Oslo,7,,\n',
    )
    assert topology.switch_names == ("New York", "Rome", "Oslo")
    assert topology.channel_latency.tolist() == [1e-6, 1e-6, 0, 0]
    assert topology.channel_capacity.tolist() == [2, 2, 1, 1]


def test_graphml_of_the_topology_zoo_s_kind(build):
    topology = build("net.graphml", ZOO)
    # "None" is two nodes' label, and the label "1" is another node's id
    assert topology.switch_names == ("Wien", "1", "2", "3")
    assert topology.terminals_per_switch.tolist() == [4, 2, 0, 2]
    assert channels(topology) == [(0, 1), (1, 0), (1, 0), (0, 1), (2, 3)]
    assert topology.channel_capacity.tolist() == [10, 10, 1, 1, 1]
    assert topology.attributes == {"file": "net.graphml", "self_loops_dropped": 1}


@pytest.mark.parametrize(
    "text",
    [
        'source;target;capacity\n"a, b" ; c;2\n',
        'source\ttarget\tcapacity\n"a, b"\tc\t2\n',
        '"source","target","capacity"\n# links\n "a, b","c",\t"2"\n',
    ],
)
def test_csv_as_people_write_it(build, text):
    topology = build("net.csv", text)
    assert topology.switch_names == ("a, b", "c")
    assert topology.channel_capacity.tolist() == [2, 2]


def test_a_name_in_quotation_marks_is_no_comment(build):
    topology = build("net.csv", 'source,target\n"#1",b\n#1,c\n')
    assert topology.switch_names == ("#1", "b")


def test_graphml_may_be_in_utf_16(build):
    topology = build("net.graphml", ZOO.replace("utf-8", "utf-16").encode("utf-16"))
    assert topology.switch_names == ("Wien", "1", "2", "3")


@pytest.mark.parametrize(("directed", "count"), [(True, 3), (False, 6), ("auto", 5)])
def test_directed_overrides_the_file(build, directed, count):
    assert build("net.graphml", ZOO, directed=directed).num_channels == count


def test_the_format_can_be_forced(build):
    assert build("net.dat", "a b\n", format="edges").num_channels == 2


@st.composite
def multigraphs(draw):
    kind = draw(st.sampled_from([nx.MultiGraph, nx.MultiDiGraph]))
    graph = kind()
    size = draw(st.integers(1, 6))
    graph.add_nodes_from(range(size))
    if size > 1:
        pair = st.lists(st.integers(0, size - 1), min_size=2, max_size=2, unique=True)
        graph.add_edges_from(draw(st.lists(pair, max_size=10)))
    return graph


def expected_channels(graph):
    pairs = Counter((str(u), str(v)) for u, v, _ in graph.edges)
    if not graph.is_directed():
        pairs += Counter((str(v), str(u)) for u, v, _ in graph.edges)
    return pairs


@given(multigraphs(), st.sampled_from(["graphml", "links", "edges"]))
def test_files_of_networkx_are_read_back(tmp_path_factory, graph, how):
    file = tmp_path_factory.mktemp("net") / ("n.graphml" if how == "graphml" else "n.json")
    if how == "graphml":
        text = io.BytesIO()
        nx.write_graphml_xml(graph, text)
        file.write_bytes(text.getvalue())
    else:
        file.write_text(json.dumps(nx.node_link_data(graph, edges=how)))
    topology = Graph(file=file).build()
    assert topology.switch_names == tuple(map(str, graph.nodes))
    name = topology.switch_names
    assert Counter((name[s], name[t]) for s, t in channels(topology)) == expected_channels(graph)


def test_node_link_json_with_attributes_and_tuples(build):
    document = {
        "nodes": [{"id": [0, 1], "terminals": 0}, {"id": "b", "label": "  B\n two "}],
        "edges": [{"source": [0, 1], "target": "b", "latency": 2e-7}],
    }
    topology = build("net.json", json.dumps(document), terminals=3)
    assert topology.switch_names == ("0.1", "B two")
    assert topology.terminals_per_switch.tolist() == [0, 3]
    assert topology.channel_latency.tolist() == [2e-7, 2e-7]


NODES_OF_KINDS = [("a", "switch"), ("b", "switch"), ("x", "host"), ("y", "host")]
LINKS_OF_KINDS = [("a", "b"), ("a", "x"), ("b", "y")]


def typed_graph(form, key, kinds):
    """File of two switches and two hosts whose kinds are in `key`; None: without it."""
    if form == "json":
        nodes = [{"id": id_, **({key: kind} if kind else {})} for id_, kind in kinds]
        links = [{"source": source, "target": target} for source, target in LINKS_OF_KINDS]
        return json.dumps({"nodes": nodes, "links": links})
    data = {id_: f'<data key="k">{kind}</data>' if kind else "" for id_, kind in kinds}
    nodes = [f'<node id="{id_}">{text}</node>' for id_, text in data.items()]
    links = [f'<edge source="{source}" target="{target}"/>' for source, target in LINKS_OF_KINDS]
    keys = f'<key id="k" for="node" attr.name="{key}"/>'
    return graphml("".join(nodes + links), keys)


@pytest.mark.parametrize("form", ["json", "graphml"])
@pytest.mark.parametrize("key", ["kind", "type"])
@pytest.mark.parametrize("switch", ["switch", None])
def test_type_is_read_as_kind_if_all_its_values_are_kinds(build, form, key, switch):
    kinds = [(id_, switch if kind == "switch" else kind) for id_, kind in NODES_OF_KINDS]
    topology = build(f"net.{form}", typed_graph(form, key, kinds))
    assert (topology.switch_names, topology.terminal_names) == (("a", "b"), ("x", "y"))
    assert "file_notes" not in topology.attributes


@pytest.mark.parametrize("form", ["json", "graphml"])
def test_another_type_is_named_and_not_read(build, form):
    kinds = [*NODES_OF_KINDS[:3], ("y", "server")]
    topology = build(f"net.{form}", typed_graph(form, "type", kinds))
    assert topology.num_switches == 4
    assert topology.attributes["file_notes"] == "not read: node key type"


@pytest.mark.parametrize("form", ["json", "graphml"])
@pytest.mark.parametrize("key", ["kind", "type"])
def test_routers_are_switches_and_endpoints_hosts(build, form, key):
    words = ["Router", "SWITCH", "endpoint", "Terminal"]
    kinds = [(id_, word) for (id_, _), word in zip(NODES_OF_KINDS, words, strict=True)]
    topology = build(f"net.{form}", typed_graph(form, key, kinds))
    assert (topology.switch_names, topology.terminal_names) == (("a", "b"), ("x", "y"))
    assert "file_notes" not in topology.attributes


def counted_graph(form, *nodes):
    """File of linked switches, a dictionary of values for each."""
    if form == "json":
        listed = [{"id": f"s{n}", **values} for n, values in enumerate(nodes)]
        links = [{"source": "s0", "target": f"s{n}"} for n in range(1, len(nodes))]
        return json.dumps({"nodes": listed, "links": links})
    keys = "".join(
        f'<key id="{name[0]}" for="node" attr.name="{name}"/>'
        for name in ("endpoints", "terminals")
    )
    text = "".join(
        f'<node id="s{n}">'
        + "".join(f'<data key="{name[0]}">{value}</data>' for name, value in values.items())
        + "</node>"
        for n, values in enumerate(nodes)
    )
    links = "".join(f'<edge source="s0" target="s{n}"/>' for n in range(1, len(nodes)))
    return graphml(text + links, keys)


@pytest.mark.parametrize("form", ["json", "graphml"])
def test_endpoints_are_terminals(build, form):
    values = {"endpoints": 2}, {"endpoints": 0}, {}, {"terminals": 3, "endpoints": 3}
    topology = build(f"net.{form}", counted_graph(form, *values), terminals=5)
    assert topology.terminals_per_switch.tolist() == [2, 0, 5, 3]
    assert "file_notes" not in topology.attributes


@pytest.mark.parametrize("form", ["json", "graphml"])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"endpoints": 2, "terminals": 1}, "terminals is 1 and endpoints 2"),
        ({"endpoints": "two"}, "endpoints is 'two', expected a whole number"),
        ({"endpoints": -1}, "expected a whole number"),
    ],
)
def test_wrong_numbers_of_endpoints_are_refused(build, form, values, said):
    with pytest.raises(InputError, match=said):
        build(f"net.{form}", counted_graph(form, {}, values))


@pytest.mark.parametrize(("number", "is_right"), [(1, True), (0, False), (2, False)])
def test_the_number_of_terminals_of_a_switch_with_hosts_is_that_of_the_hosts(
    build, number, is_right
):
    nodes = [
        {"id": id_, "type": kind, **({"endpoints": number} if id_ == "a" else {})}
        for id_, kind in NODES_OF_KINDS
    ]
    links = [{"source": source, "target": target} for source, target in LINKS_OF_KINDS]
    text = json.dumps({"nodes": nodes, "links": links})
    if is_right:
        assert build("net.json", text).terminal_names == ("x", "y")
    else:
        with pytest.raises(InputError, match="has a number of terminals"):
            build("net.json", text)


def test_kind_goes_before_type(build):
    nodes = [{"id": "a", "kind": "switch", "type": "host"}, {"id": "b", "type": "host"}]
    content = {"nodes": nodes, "links": [{"source": "a", "target": "b"}]}
    topology = build("net.json", json.dumps(content))
    assert topology.num_switches == 2
    assert "type" in topology.attributes["file_notes"]


DRAWN = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://example.org/y">
  <key id="t" for="node" attr.name="tier"><default>leaf</default></key>
  <key id="d" for="all" yfiles.type="graphics"/><key id="u" for="node" attr.name="url"/>
  <key id="o" for="graph" attr.name="origin"/><key id="bandwidth" for="edge"/>
  <graph edgedefault="undirected"><data key="o">Zoo</data>
    <node id="a"><data key="d"><y:NodeLabel>A</y:NodeLabel></data><data key="u"/></node>
    <node id="b"/>
    <edge source="a" target="b" sourceport="p1"><data key="bandwidth">10</data>
      <data key="d"><y:EdgeLabel>10G</y:EdgeLabel></data></edge>
  </graph>
</graphml>"""

LINK = {"source": "a", "target": "b"}

PARTLY_READ = {
    "columns": (
        "a.csv",
        "source,target,Bandwidth,delay,empty\na,b,,1us,\nb,c,2,1us,\n",
        "not read: columns delay, bandwidth",
    ),
    "weights": ("a.txt", "a b\nb c 2.5\n", "not read: value after the two names of a line"),
    "dictionaries": ("a.txt", "a b {'w': 1}\n", "not read: value after the two names of a line"),
    "graphml": (
        "a.graphml",
        DRAWN,
        (
            "not read: graph key origin; not read: node key tier; not read: labels of nodes in the "
            "drawing, of edges in the drawing; not read: edge key bandwidth; "
            "not read: edge attribute sourceport"
        ),
    ),
    "json": (
        "a.json",
        json.dumps(
            {
                "graph": {"rate": 5},
                "hosts": ["x"],
                "nodes": [{"id": "a", "capacity": 2, "tier": None}, {"id": "b", "tier": "core"}],
                "links": [LINK | {"bandwidth": 0, "key": 3}],
                "edges": [LINK],
            }
        ),
        (
            "not read: top-level keys graph, hosts, edges; not read: node keys capacity, tier; "
            "not read: edge keys bandwidth, key"
        ),
    ),
    "many keys": (
        "a.json",
        json.dumps({"nodes": [{"id": "a"} | {f"k{i}": 1 for i in range(11)}], "links": []}),
        "not read: node keys k0, k1, k2, k3, k4, k5, k6, k7, and 3 more",
    ),
}


@pytest.mark.parametrize(("name", "content", "notes"), PARTLY_READ.values(), ids=PARTLY_READ)
def test_what_is_not_read_is_named_once(build, name, content, notes):
    assert build(name, content).attributes["file_notes"] == notes


READ = {
    "columns": ("a.csv", "Source,target,capacity,latency,source_port,,\na,b,1,2,3,,\n"),
    "empty dictionaries of networkx": ("a.txt", "a b {}\n"),
    "keys of a multigraph": (
        "a.json",
        json.dumps(
            {
                "multigraph": True,
                "graph": {},
                "nodes": [{"id": "a", "guid": "0x1", "label": "A", "terminals": 1}, {"id": "b"}],
                "links": [LINK | {"key": 0}, LINK | {"key": 1, "capacity": 2, "latency": 1}],
            }
        ),
    ),
}


@pytest.mark.parametrize(("name", "content"), READ.values(), ids=READ)
def test_a_file_that_is_read_completely_has_no_notes(build, name, content):
    assert "file_notes" not in build(name, content).attributes


def test_values_of_hosts_links_and_terminals_beside_hosts_are_named(build):
    links = [*HOST_LINKS[:2], HOST_LINKS[2] | {"capacity": 2}]
    content = json.dumps({"nodes": HOST_NODES, "links": links})
    assert build("net.json", content, terminals=4).attributes["file_notes"] == (
        "not used: capacity and latency of links to hosts; "
        "not used: terminals=4, because the file has hosts"
    )


RING_LINES = "".join(
    f'<edge source="{source}" target="{target}"/>'
    for source, target in [("a", "b"), ("c", "b"), ("c", "d"), ("a", "d")]
)
RING = (
    "<graphml><graph edgedefault='directed'>"
    + "".join(f'<node id="{name}"/>' for name in "abcd")
    + RING_LINES
    + "</graph></graphml>"
)


@pytest.mark.parametrize(("directed", "count"), [("auto", 4), (True, 4), (False, 8)])
def test_one_way_links_of_a_drawing_are_named(build, directed, count):
    topology = build("ring.graphml", RING, directed=directed)
    assert topology.num_channels == count
    notes = topology.attributes.get("file_notes", "")
    assert ("4 of 4" in notes, "directed=false" in notes) == (directed == "auto",) * 2


def test_links_both_ways_and_declared_one_way_links_are_not_named(build):
    both = [LINK, {"source": "b", "target": "a"}]
    document = {"directed": True, "nodes": [{"id": "a"}, {"id": "b"}], "links": both}
    assert "file_notes" not in build("net.json", json.dumps(document)).attributes
    # an edge's own attribute is a statement, the default of the file is often a program's
    assert "file_notes" not in build("zoo.graphml", ZOO).attributes


@pytest.mark.parametrize(
    ("lines", "links", "noted"),
    [
        ("4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n", 5, True),
        ("# counts\n3 3\n1 2\n2 3\n3 1\n", 3, True),  # a self-loop, if it were a link
        ("5 3\n0 1\n1 2\n2 3\n", 4, True),  # a node without links may be counted: a link
        ("4 9\n0 1\n1 2\n2 3\n3 0\n0 2\n", 6, False),
        ("a 3\na b\nb 3\nb c\n", 4, False),
        ("2 1\n1 0\n", 2, False),  # a short path
    ],
)
def test_a_first_line_with_numbers_of_nodes_and_links(build, lines, links, noted):
    topology = build("net.txt", lines)
    assert topology.num_channels == 2 * links
    assert ("file_notes" in topology.attributes) == noted


@pytest.mark.parametrize("lines", ["4 3\n3 2\n2 1\n1 0\n", "4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n"])
def test_a_first_line_that_may_be_a_link_is_refused(build, lines):
    with pytest.raises(InputError, match=r"line 1: .* may be a link"):
        build("net.txt", lines)
    comment = build("net.txt", f"# {lines}")
    assert "file_notes" not in comment.attributes
    first, rest = lines.split("\n", 1)
    assert build("net.txt", f"{rest}{first}\n").num_channels == comment.num_channels + 2


def graphml(inside, keys=""):
    return f"<graphml>{keys}\n<graph edgedefault='undirected'>\n{inside}\n</graph></graphml>"


@pytest.mark.parametrize(("text", "one_way"), [("1", 1), ("true", 1), ("0", 0), ("false", 0)])
@pytest.mark.parametrize("default", ["directed", "undirected"])
def test_directed_is_a_truth_value_of_xml(build, text, one_way, default):
    nodes = "".join(f"<node id='{name}'/>" for name in "ab")
    edges = f"<edge source='a' target='b' directed='{text}'/>"
    if one_way:
        edges += f"<edge source='b' target='a' directed=' {text} '/>"
    content = graphml(nodes + edges).replace("'undirected'", f"'{default}'")
    assert channels(build("a.graphml", content)) == [(0, 1), (1, 0)]


def node_link(nodes, edges=()):
    return json.dumps({"nodes": list(nodes), "links": list(edges)})


TERMINALS = "<key id='t' for='node' attr.name='terminals'/>"
MISTAKES = {
    "empty": ("a.txt", "  \n", "the file is empty"),
    "compressed": ("a.graphml", gzip.compress(b"<graphml/>"), "the file is compressed .gzip."),
    "UTF-16": ("a.csv", "source,target\na,b\n".encode("utf-16"), "the file is text in UTF-16"),
    "two separators": ("a.csv", "source,target;x\na,b\n", "line 1: .* a comma and a semicolon"),
    "other separator": ("a.csv", "source;target\na;b,c\n", "line 2: 'b,c' has a comma"),
    "list of routes": ("a.csv", "source,target,switches\na,b,b\n", "heading of a list of routes"),
    "one name": ("a.txt", "a b\nc\n", r"a\.txt, line 2: expected two names"),
    "the other direction": (
        "a.csv",
        "source,target,name\na,b,east\nb,a,west\n",
        r"a\.csv, line 3: .* may be the other direction of the link at .*a\.csv, line 2",
    ),
    "names with spaces": ("a.txt", "New York Boston\n", "line 1: .* names with spaces need CSV"),
    "not UTF-8": ("a.txt", b"a b\nc\nd \xff\n", "line 3: not UTF-8"),
    "unknown suffix": ("a.net", "a b\n", r"suffix '\.net' is not a known format .*format="),
    "no header": ("a.csv", "a,b\n", "line 1: expected a header such as source,target"),
    "column twice": ("a.csv", "source,target,source\n", "each column once"),
    "short row": ("a.csv", "source,target,latency\na,b\n", "line 2: 2 cells under a header of 3"),
    "no target": ("a.csv", "source,target\na,\n", "line 2: the edge has no target"),
    "capacity": ("a.csv", "source,target,capacity\na,b,0\n", "line 2: capacity is '0', expected"),
    "latency": ("a.csv", "source,target,latency\na,b,-1\n", "latency is '-1', expected a number"),
    "ring": (
        "a.json",
        node_link([{"id": "a"}, {"id": "b"}], [{"source": "a", "target": "b", "ring": True}]),
        "ring is True, expected a name or a number",
    ),
    "open quote": ("a.csv", 'source,target\na,"b\n', r"a\.csv, line 2: "),
    "bad XML": ("a.graphml", "<graphml>\n<graph>\n</graphml>", "not well-formed XML: .* line 3"),
    "other XML": ("a.graphml", "<svg/>", "the root is <svg>, expected <graphml>"),
    "no graph": ("a.graphml", "<graphml/>", "expected one graph"),
    "edgedefault": ("a.graphml", "<graphml><graph edgedefault='x'/></graphml>", "edgedefault is"),
    "two graphs": ("a.graphml", "<graphml><graph/>\n<graph/></graphml>", "expected one graph"),
    "nested": ("a.graphml", graphml("<node id='a'><graph/></node>"), "expected one graph"),
    "hyperedge": ("a.graphml", graphml("<hyperedge/>"), "hyperedges are not supported"),
    "node twice": (
        "a.graphml",
        graphml("<node id='a'/>\n<node id='a'/>"),
        r"node 2: node 'a' was already named at .*a\.graphml, node 1",
    ),
    "no id": ("a.graphml", graphml("<node/>"), "node 1: a node has no name"),
    "undeclared": (
        "a.graphml",
        graphml("<node id='a'/>\n<edge source='a' target='b'/>"),
        "edge 1: an edge leads to node 'b', which is not declared",
    ),
    "directed in XML": (
        "a.graphml",
        graphml("<node id='a'/>\n<edge source='a' target='a' directed='yes'/>"),
        "edge 1: directed is 'yes', expected true, false, 1 or 0",
    ),
    "half an edge": ("a.graphml", graphml("<edge source='a'/>"), "edge 1: an edge has no target"),
    "terminals": (
        "a.graphml",
        graphml("<node id='a'><data key='t'>many</data></node>", TERMINALS),
        "node 1: terminals is 'many', expected a whole number",
    ),
    "no terminals": (
        "a.graphml",
        graphml("<node id='a'><data key='t'>0</data></node>", TERMINALS),
        "no switch has a terminal",
    ),
    "bad JSON": ("a.json", '{"nodes": [\n}', "line 2: not JSON"),
    "deep JSON": ("a.json", "[" * 200_000, "cannot be read as JSON"),
    "list": ("a.json", "[]", "expected an object with nodes and links"),
    "no nodes": ("a.json", "{}", "no list named nodes"),
    "nothing": ("a.json", node_link([]), "has no nodes and no edges"),
    "directed": ("a.json", '{"directed": 1}', "directed is 1, expected true or false"),
    "node is a name": ("a.json", node_link(["a"]), r"nodes\[0\]: expected an object, got 'a'"),
    "control character": ("a.txt", "a b\nc\0 d\n", r"line 2: the name 'c\\x00' has the character"),
    "control character in a label": (
        "a.json",
        node_link([{"id": 1, "label": "a\x1b"}]),
        r"nodes\[0\]: the name 'a\\x1b' has the character '\\x1b', which exports cannot hold",
    ),
    "no id in JSON": ("a.json", node_link([{}]), r"nodes\[0\]: id is None, expected a name"),
    "huge terminals": ("a.json", node_link([{"id": 1, "terminals": 10**400}]), "terminals is 1000"),
}


@pytest.mark.parametrize(("name", "content", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_malformed_file_is_rejected_in_one_line(build, name, content, message):
    with pytest.raises(InputError, match=message) as caught:
        build(name, content)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


JUNK = st.one_of(
    st.binary(max_size=60),
    st.text(alphabet="<>/'\"={}[]:,ab01 \n#", max_size=60).map(str.encode),
)


@given(JUNK, st.sampled_from(["edges", "csv", "graphml", "json"]))
def test_no_file_makes_a_traceback(tmp_path_factory, content, file_format):
    file = tmp_path_factory.mktemp("junk") / "file"
    file.write_bytes(content)
    try:
        topology = Graph(file=file, format=file_format).build()
    except InputError as error:
        message = str(error)
    else:
        message = str(file)
        assert np.all(topology.channel_source != topology.channel_target)
    assert str(file) in message


HOSTS = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="k" for="node" attr.name="kind"/><key id="g" for="node" attr.name="guid"/>
  <key id="l" for="node" attr.name="label"/>
  <key id="s" for="edge" attr.name="source_port"/><key id="t" for="edge" attr.name="target_port"/>
  <graph edgedefault="undirected">
    <node id="H2"><data key="k">host</data><data key="l">node02</data></node>
    <node id="S1"><data key="g">0x10</data></node>
    <node id="H1"><data key="k">host</data><data key="g">0x1</data></node>
    <node id="S2"><data key="k">switch</data></node>
    <edge source="S1" target="S2"><data key="s">3</data><data key="t">5</data></edge>
    <edge source="H2" target="S2"><data key="t">7</data></edge>
    <edge source="S1" target="H1"><data key="s">1</data><data key="t">1</data></edge>
  </graph>
</graphml>
"""


def assert_hosts(topology):
    assert topology.switch_names == ("S1", "S2")
    assert topology.switch_guids == ("0x10", "")
    assert topology.terminal_names == ("node02", "H1")
    assert topology.terminal_guids == ("", "0x1")
    assert topology.terminal_switch.tolist() == [1, 0]
    assert topology.terminal_port.tolist() == [7, 1]
    assert channels(topology) == [(0, 1), (1, 0)]
    assert topology.source_port.tolist() == [3, 5]
    assert topology.target_port.tolist() == [5, 3]


def test_hosts_of_graphml_are_terminals_with_names_guids_and_ports(build):
    assert_hosts(build("net.graphml", HOSTS))


HOST_NODES = [
    {"id": "H2", "kind": "host", "label": "node02"},
    {"id": "S1", "guid": "0x10"},
    {"id": "H1", "kind": "host", "guid": "0x1"},
    {"id": "S2", "kind": "switch"},
]
HOST_LINKS = [
    {"source": "S1", "target": "S2", "source_port": 3, "target_port": 5},
    {"source": "H2", "target": "S2", "target_port": 7},
    {"source": "S1", "target": "H1", "source_port": 1, "target_port": 1},
]


def test_hosts_of_json_are_the_same(build):
    nodes, links = HOST_NODES, HOST_LINKS
    assert_hosts(build("net.json", json.dumps({"nodes": nodes, "links": links})))
    both_ways = [
        *links,
        *(
            {
                "source": link["target"],
                "target": link["source"],
                "source_port": link.get("target_port"),
                "target_port": link.get("source_port"),
            }
            for link in links
        ),
    ]
    assert_hosts(
        build("two.json", json.dumps({"directed": True, "nodes": nodes, "links": both_ways}))
    )


def test_ports_of_csv(build):
    topology = build("net.csv", "source,target,source_port,target_port\na,b,1,2\nb,c,,4\n")
    assert topology.source_port.tolist() == [1, 2, -1, 4]
    assert topology.target_port.tolist() == [2, 1, 4, -1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"switch"', '"ca"', "kind is 'ca', expected switch or host"),
        ('"source_port": 3', '"source_port": "x"', "source_port is 'x', expected a whole number"),
        ('"target": "H1"', '"target": "S2"', "host 'H1' has 0 links, expected one, to a switch"),
        ('"target": "S2", "source_port"', '"target": "H1", "source_port"', "host 'H1' has 2 links"),
        ('"source": "S1", "target": "H1"', '"source": "H2", "target": "H1"', "host 'H2' has 2 l"),
        ('"guid": "0x10"', '"terminals": 3', "has a number of terminals, but the file also has h"),
        ('"0x10"', '"0x1"', "two devices have the GUID '0x1'"),
    ],
)
def test_invalid_hosts_are_rejected(build, old, new, said):
    text = json.dumps({"nodes": HOST_NODES, "links": HOST_LINKS})
    assert old in text
    with pytest.raises(InputError, match=said):
        build("net.json", text.replace(old, new))


def test_hosts_that_are_linked_to_each_other_are_refused(build):
    nodes = [{"id": name, "kind": "host"} for name in ("a", "b")] + [{"id": "c"}]
    text = json.dumps({"nodes": nodes, "links": [{"source": "a", "target": "b"}]})
    with pytest.raises(InputError, match="host 'a' is linked to another host"):
        build("net.json", text)


NAMED = {
    "net.csv": "source,target,name\na,b,east\na,b,west\nb,c,\n",
    "net.json": json.dumps(
        {
            "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
            "links": [
                {"source": "a", "target": "b", "name": "east"},
                {"source": "a", "target": "b", "name": "west"},
                {"source": "b", "target": "c"},
            ],
        }
    ),
    "net.graphml": graphml(
        "<node id='a'/><node id='b'/><node id='c'/>"
        "<edge source='a' target='b'><data key='n'>east</data></edge>"
        "<edge source='a' target='b'><data key='n'>west </data></edge>"
        "<edge source='b' target='c'/>",
        "<key id='n' for='edge' attr.name='name'/>",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_links_of_different_names_are_parallel(build, name):
    topology = build(name, NAMED[name])
    assert topology.channel_names == ("east", "east", "west", "west", "", "")
    assert "file_notes" not in topology.attributes
    assert topology.without(channels=[1, 2]).channel_names == ("east", "west", "", "")
    assert topology.without(channels=range(4), switches=[0]).channel_names == ()
    with pytest.raises(InputError, match="already listed"):
        build(name, NAMED[name].replace("west", "east"))
    one_way = build(name, NAMED[name], directed=True)
    assert one_way.channel_names == ("east", "west", "")


def test_a_name_of_a_link_is_a_text(build):
    for wrong in ({"x": 1}, True, "a\ud800"):
        links = [{"source": "a", "target": "b", "name": wrong}]
        with pytest.raises(InputError, match="name"):
            build("net.json", json.dumps({"nodes": [{"id": "a"}, {"id": "b"}], "links": links}))


def test_ports_of_graphml_are_numbers_or_not_read(build):
    text = graphml(
        "<node id='a'/><node id='b'/><node id='c'/>"
        "<edge source='a' target='b' sourceport='1' targetport='02'/>"
        "<edge source='b' target='c' sourceport='7'><data key='t'>9</data></edge>",
        "<key id='t' for='edge' attr.name='target_port'/>",
    )
    topology = build("net.graphml", text)
    assert topology.source_port.tolist() == [1, 2, 7, 9]
    assert topology.target_port.tolist() == [2, 1, 9, 7]
    assert "file_notes" not in topology.attributes
    for word in ("east", "-1", "1.5", "70000"):
        named = build("net.graphml", text.replace("'1'", f"'{word}'"))
        assert named.source_port.tolist() == [-1, -1, -1, 9]
        assert "not read: edge attributes sourceport, targetport" in named.attributes["file_notes"]
    with pytest.raises(InputError, match="target_port is '9' and targetport '8'"):
        build("net.graphml", text.replace("sourceport='7'", "sourceport='7' targetport='8'"))

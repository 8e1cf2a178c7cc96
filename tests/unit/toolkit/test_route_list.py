"""Route lists: what is read is what was written, and a damaged file is never taken for routes."""

import gzip

import numpy as np
import pytest

from routelab.api import InputError, RouteTable, Topology
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.toolkit.next_hop_list import read_next_hops
from routelab.toolkit.route_cells import read_rows
from routelab.toolkit.route_list import read_route_list, route_list_lines


def parallel_links(*, ports):
    """Two switches, joined by two links."""
    return Topology.create(
        num_switches=2,
        channel_source=[0, 1, 0, 1],
        channel_target=[1, 0, 1, 0],
        source_port=[1, 1, 2, 2] if ports else None,
        target_port=[1, 1, 2, 2] if ports else None,
        switch_names=["A", "B"],
    )


def routed(network, routing):
    topology = load_network(network)[1]
    return Routing.from_name(routing).table(topology)


@pytest.mark.parametrize(
    ("network", "routing"),
    [
        ("torus~dims=4x3", "dor"),
        ("torus~dims=4x4", "lash"),
        ("torus~dims=3x3", "angara-sssp"),
        ("random-regular~degree=3,n=10,seed=2", "sssp@up-down"),
    ],
)
def test_a_written_table_is_read_back(network, routing, tmp_path):
    table = routed(network, routing)
    file = tmp_path / "routes.csv"
    file.write_text("".join(route_list_lines(table)))

    read = read_route_list(read_rows(file), table.topology).table

    assert read.path_start.tolist() == table.path_start.tolist()
    assert read.pair_start.tolist() == table.pair_start.tolist()
    assert read.hop_channel.tolist() == table.hop_channel.tolist()
    assert read.hop_vc.tolist() == table.hop_vc.tolist()
    assert np.allclose(read.path_weight, table.path_weight)


@pytest.mark.parametrize("ports", [True, False])
def test_parallel_links_are_written_as_ports_or_links(ports, tmp_path):
    network = parallel_links(ports=ports)
    table = RouteTable.create(
        network,
        pair_start=[0, 1, 3, 4, 5],
        path_start=[0, 0, 1, 2, 3, 3],
        path_weight=[1, 0.25, 0.75, 1, 1],
        hop_channel=[0, 2, 3],
    )
    text = "".join(route_list_lines(table))
    assert text.splitlines()[:2] == (
        ["source,target,weight,ports", "A,B,0.25,1"]
        if ports
        else ["source,target,weight,links", "A,B,0.25,0"]
    )
    (tmp_path / "routes.csv").write_text(text)

    read = read_route_list(read_rows(tmp_path / "routes.csv"), network).table

    assert read.hop_channel.tolist() == [0, 2, 3]
    assert read.path_weight.tolist() == [1, 0.25, 0.75, 1, 1]


@pytest.mark.parametrize(
    ("names", "targets"), [((), "BBA"), (("a", "b", "c"), "bca"), (("a", "b", "B"), "BBA")]
)
def test_routes_to_terminals_have_their_names(names, targets):
    network = Topology.create(
        num_switches=2,
        channel_source=[0, 1],
        channel_target=[1, 0],
        terminal_switch=[0, 1, 1],
        terminal_names=names,
        switch_names=["A", "B"],
    )
    table = RouteTable.from_next_hops(network, [[-1, 0, 0], [1, -1, -1]], per_terminal=True)
    lines = [f"{s},{t},{hop}\n" for s, t, hop in zip("AAB", targets, "BBA", strict=True)]
    assert list(route_list_lines(table)) == ["source,target,switches\n", *lines]


def test_a_name_of_a_terminal_and_of_another_switch_is_not_guessed(tmp_path):
    network = Topology.create(
        num_switches=2,
        channel_source=[0, 1],
        channel_target=[1, 0],
        switch_names=["A", "B"],
        terminal_names=["B", "a"],
    )
    (tmp_path / "r.csv").write_text(HEAD + "A,B,B\n")
    with pytest.raises(InputError, match="line 2: 'B' is a switch and also a terminal"):
        read_route_list(read_rows(tmp_path / "r.csv"), network)


def test_names_that_a_spreadsheet_or_a_virtual_channel_could_hide(tmp_path):
    names = ["=a", "b,c", 'd"', "e@1"]
    network = Topology.create(
        num_switches=4,
        channel_source=[0, 1, 2, 3],
        channel_target=[1, 2, 3, 0],
        switch_names=names,
    )
    table = RouteTable.from_next_hops(
        network, [[-1, 0, 0, 0], [1, -1, 1, 1], [2, 2, -1, 2], [3, 3, 3, -1]]
    )
    file = tmp_path / "routes.csv"
    file.write_text("".join(route_list_lines(table)))
    assert (
        read_route_list(read_rows(file), network).table.hop_channel.tolist()
        == table.hop_channel.tolist()
    )
    # without the network, the names come from the file
    assert sorted(read_route_list(read_rows(file)).table.topology.switch_names) == sorted(names)


def test_terminals_with_names_stand_for_their_switches(tmp_path):
    network = Topology.create(
        num_switches=2,
        channel_source=[0, 1],
        channel_target=[1, 0],
        switch_names=["A", "B"],
        terminal_names=["host a", "host b"],
    )
    (tmp_path / "r.csv").write_text("source,target,switches\nhost a,host b,B\n")
    assert read_route_list(read_rows(tmp_path / "r.csv"), network).table.hop_channel.tolist() == [0]


HEAD = "source,target,switches\n"
DAMAGED = {
    "no file": (None, "not found|No such file"),
    "nothing": ("", "file is empty"),
    "only a heading": (HEAD, "no routes"),
    "only empty lines": (HEAD + "\n,,\n\n", "no routes"),
    "no heading": ("A,C,B,C\n", "line 1.*heading"),
    "another heading": ("from,to,switches\nA,C,B,C\n", "line 1.*heading"),
    "cut in the heading": ("source,target,swit\nA,C,B,C\n", "line 1.*heading"),
    "two forms": ("source,target,switches,ports\nA,C,B,C\n", "line 1.*heading"),
    "cut in the last line": (HEAD + "A,C,B,C\nC,A,B@1", "no line end"),
    "a lone source": (HEAD + "A,C,B,C\nA\n", "line 3.*1 cell"),
    "no source": (HEAD + ",C,B,C\n", "line 2.*empty"),
    "no target": (HEAD + "A,,B,C\n", "line 2.*empty"),
    "a hop is empty": (HEAD + "A,C,B,C\n\nA,C,,C\n", "line 4.*empty"),
    "a hop is blank": (HEAD + "A,C, ,C\n", "line 2.*empty"),
    "an open quotation": (HEAD + 'A,C,"B,C\n', "line 2"),
    "text behind a quotation": (HEAD + 'A,C,"B"x,C\n', "line 2"),
    "a cell over two lines": (HEAD + 'A,C,B,C\nA,C,"B\n",C\n', "line 3.*not end on this line"),
    "a quotation mark inside a cell": (HEAD + 'A,C,B"5,C\n', "line 2.*inside a cell"),
    "two separators": ("source,target;switches\nA,C;B\n", "line 1.*a comma and a semicolon"),
    "another separator below": (HEAD + "A,C,B;C\n", "line 2.*'B;C' has a semicolon"),
    "separated by blanks": ("source target switches\nA C B\n", "line 1.*separated by blanks"),
    "no number": (HEAD + "A,C,B@,C\n", "line 2.*'B@' has no name before @ or no number"),
    "a word for a number": (HEAD + "A,C,B@x,C\n", "line 2.*'B@x' has no name before @ or no"),
    "a hop without a name": (HEAD + "A,C,@1,C\n", "line 2.*'@1' has no name before @ or no"),
    "a comment that may be a route": (HEAD + 'A,C,B,C\n#A,C,B,C\n#b\nB,C,"#b"\n', "line 4.*#b"),
    "compressed": (gzip.compress(HEAD.encode()), "compressed .gzip.; unpack"),
    "an unknown source": (HEAD + "A,C,B,C\nX,C,B,C\n", "line 3.*'X' is not in the network"),
    "an unknown target": (HEAD + "A,Y,B,C\n", "line 2.*'Y' is not in the network"),
    "a switch without terminals": (HEAD + "D,C,C\n", "line 2.*'D' has no terminals"),
    "a hop, then an end without terminals": (
        HEAD + "B,C,C,D,C\nD,C,C\n",
        "line 3.*'D' has no terminals",
    ),
    "a virtual channel that no router has": (HEAD + "A,C,B@32768,C\n", "line 2.*above 32767"),
    "a long number": (HEAD + f"A,C,B@{'9' * 5000},C\n", "line 2.*above 32767"),
    "no weight": ("source,target,weight,switches\nA,C\n", "line 2.*weight"),
    "a weight is a hop": ("source,target,weight,switches\nA,C,B,C\n", "line 2.*weight.*number"),
    "a hop, then a weight": (
        "source,target,weight,switches\nA,C,1,B,C\nA,B,C,B\n",
        "line 3.*weight.*number",
    ),
    "weight 0": ("source,target,weight,switches\nA,C,0,B,C\n", "line 2.*above 0"),
    "a negative weight": (
        "source,target,weight,switches\nA,C,-1,B,C\nA,C,2,B,C\n",
        "line 2.*above 0",
    ),
    "weights of a pair": (
        "source,target,weight,switches\nB,C,1,C\nA,C,0.5,B,C\nA,C,0.6,B,C\n",
        "line 3.*sum is 1.1",
    ),
    "a weight that is no number": (
        "source,target,weight,switches\nA,C,nan,B,C\n",
        "line 2.*above 0",
    ),
    "not text": (b"source,target,switches\nA,C,\xff,C\n", "UTF-8"),
    "another encoding": ("source,target,switches\nA,C,B,C\n".encode("utf-16"), "UTF-16"),
    "another encoding without a mark": (HEAD.encode("utf-16-le"), "UTF-16"),
    "ports without numbers": ("source,target,ports\nA,C,1,1\n", "does not number its ports"),
}


NO_TABLE = (
    "an unknown source",
    "a switch without terminals",
    "a hop, then an end without terminals",
)
"""Damaged lists of routes that have another message, or none, as tables of next hops."""
TABLE = "switch,target,switches\n"
DAMAGED_TABLES = {
    "a second entry": (TABLE + "A,C,B\nB,C,C\nA,C,B\n", "line 4: a second entry of A"),
    "a second entry for a terminal": (TABLE + "A,host c,B\nA,host c,B\n", "line 3: a second"),
    "only entries of a switch for itself": (TABLE + "A,A,B\nB,B,A\n", "no next hops for other"),
    "an unknown switch": (TABLE + "A,C,B\nX,C,B\n", "line 3: 'X' is not in the network"),
    "a terminal is no switch": (TABLE + "host a,C,B\n", "line 2: 'host a' is not in the network"),
    "no next hop": (TABLE + "A,C,\n\nB,C\n", "line 2: A has no next hop for C"),
    "a hop in an entry for its own switch, then in another": (
        TABLE + "C,C,B@\nA,C,B@\n",
        "line 3.*'B@' has no name before @",
    ),
    "a target without terminals": (TABLE + "C,D,D\n", "line 2: 'D' has no terminals"),
    "weights": ("switch,target,weight,switches\nA,C,1,B\n", "line 1.*heading"),
} | {
    case: (content.replace(*swap) if content else content, message)
    for case, (content, message) in DAMAGED.items()
    for swap in [(b"source", b"switch") if isinstance(content, bytes) else ("source", "switch")]
    if "weight" not in case and case not in NO_TABLE
}


def write_damaged(content, file):
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Topology.create(
        num_switches=4,
        channel_source=[0, 1, 1, 2, 2, 3],
        channel_target=[1, 0, 2, 1, 3, 2],
        terminal_switch=[0, 1, 2],
        switch_names=list("ABCD"),
        terminal_names=["host a", "host b", "host c"],
    )


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_lists_have_no_verdict(case, tmp_path):
    content, message = DAMAGED[case]
    network = write_damaged(content, tmp_path / "routes.csv")
    with pytest.raises(InputError, match=message):
        read_route_list(read_rows(tmp_path / "routes.csv"), network)


@pytest.mark.parametrize("case", DAMAGED_TABLES)
def test_damaged_tables_have_no_verdict(case, tmp_path):
    content, message = DAMAGED_TABLES[case]
    network = write_damaged(content, tmp_path / "table.csv")
    with pytest.raises(InputError, match=message):
        read_next_hops(read_rows(tmp_path / "table.csv"), network)


@pytest.mark.parametrize("form", ["ports", "links"])
def test_hops_that_only_a_network_explains_need_one(form, tmp_path):
    (tmp_path / "r.csv").write_text(f"source,target,{form}\nA,B,0\n")
    with pytest.raises(InputError, match="name the network"):
        read_route_list(read_rows(tmp_path / "r.csv"))


@pytest.mark.parametrize("end", ["A,B@x,B,C", "B@x,B,A,B"])
def test_an_end_that_may_be_a_misspelled_hop_is_refused_without_a_network(end, tmp_path):
    (tmp_path / "r.csv").write_text(f"source,target,switches\nA,C,B,C\n{end}\n")
    with pytest.raises(InputError, match="line 3: 'B@x' has no name before @ or no number"):
        read_route_list(read_rows(tmp_path / "r.csv"))


def test_a_hop_over_parallel_links_is_not_guessed(tmp_path):
    (tmp_path / "r.csv").write_text("source,target,switches\nA,B,B\n")
    with pytest.raises(InputError, match="line 2: the hop 'B' may be one of several links"):
        read_route_list(read_rows(tmp_path / "r.csv"), parallel_links(ports=True))


def test_a_hop_with_two_readings_is_not_guessed(tmp_path):
    network = Topology.create(
        num_switches=3,
        channel_source=[0, 1, 0, 2],
        channel_target=[1, 0, 2, 0],
        switch_names=["A", "B", "B@1"],
    )
    (tmp_path / "r.csv").write_text("source,target,switches\nA,B,B@1\n")
    with pytest.raises(InputError, match="'B@1' is a switch and also 'B' on virtual channel 1"):
        read_route_list(read_rows(tmp_path / "r.csv"), network)


def named_links(*names):
    """A line A, B, C with two links between A and B, and names of all three links."""
    return Topology.create(
        num_switches=3,
        channel_source=[0, 1, 0, 1, 1, 2],
        channel_target=[1, 0, 1, 0, 2, 1],
        switch_names=["A", "B", "C"],
        channel_names=[name for name in names for _ in range(2)],
    )


@pytest.mark.parametrize(
    ("names", "hops", "channels"),
    [
        (("x", "y", "z"), "y,z", [2, 4]),
        (("x", "y", "x@1"), "y,x@1@0", [2, 4]),
        (("x", "y", ""), "y@1,B>C@1", [2, 4]),
        # numbers and ends mean channels, and a name that agrees changes nothing
        (("x", "y", "z"), "0,4", [0, 4]),
        (("x", "y", "B>D"), "0,B>C", [0, 4]),
        # two links of one name, but not of one switch
        (("x", "y", "9"), "x,9", [0, 4]),
    ],
)
def test_a_name_is_the_link_that_leaves_the_switch(names, hops, channels, tmp_path):
    (tmp_path / "r.csv").write_text(f"source,target,links\nA,C,{hops}\n")
    read = read_route_list(read_rows(tmp_path / "r.csv"), named_links(*names))
    assert read.table.hop_channel.tolist() == channels


@pytest.mark.parametrize(
    ("names", "hops", "said"),
    [
        (("x", "x", "z"), "x,z", "line 2: the hop 'x' may be one of several links"),
        (("x", "y", "y"), "y,y", "line 2: the hop 'y' may be one of several links"),
        (("x", "4", "z"), "x,4", "line 2: '4' is the number or the ends of a channel"),
        (("x", "B>C", "z"), "B>C@1,z", "line 2: 'B>C' is the number or the ends of a channel"),
        (("x", "x@1", "z"), "x@1,z", "line 2: 'x@1' is a switch"),
    ],
)
def test_a_name_with_two_readings_is_not_guessed(names, hops, said, tmp_path):
    (tmp_path / "r.csv").write_text(f"source,target,links\nA,C,{hops}\n")
    with pytest.raises(InputError, match=said):
        read_route_list(read_rows(tmp_path / "r.csv"), named_links(*names))


@pytest.mark.parametrize(
    "names", [("x", "y", "z"), ("x", "y", ""), ("4", "b", "a"), ("x@1", "b", "2"), ("1", "a", "1")]
)
def test_written_links_are_read_again_whatever_their_names_are(names, tmp_path):
    network = named_links(*names)
    lines = [*route_list_lines(routed_on(network))]
    (tmp_path / "r.csv").write_text("".join(lines))
    read = read_route_list(read_rows(tmp_path / "r.csv"), network).table
    assert read.hop_channel.tolist() == routed_on(network).hop_channel.tolist()


def routed_on(network):
    """Routes from A to C over each of the links between A and B."""
    return RouteTable.create(
        network,
        pair_start=[0, 1, 1, 3, 3, 4, 4, 4, 4, 5],
        path_start=[0, 0, 2, 4, 4, 4],
        path_weight=[1, 0.5, 0.5, 1, 1],
        hop_channel=[0, 4, 2, 4],
        hop_vc=[0, 0, 0, 0],
    )

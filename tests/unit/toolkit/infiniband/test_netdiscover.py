"""Fabrics read from output of ibnetdiscover, with mistakes of all kinds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError, Topology
from routelab.registry.instances import load
from routelab.toolkit.infiniband import (
    NOT_HOSTS,
    Fabric,
    TextFile,
    parse_fabric,
    parse_forwarding_tables,
    parse_lane_tables,
    parse_service_levels,
    read_fabric,
    topology_of,
)

DATA = Path(__file__).parents[3] / "data" / "infiniband"
NETWORKS = Path(__file__).parents[4] / "config" / "networks"
FORMS = ("fabric.topo", "fabric.p")


def outcome(text: str) -> Topology | str:
    """Return the network, or the message that refuses it."""
    try:
        return topology_of(parse(text))
    except InputError as error:
        return str(error)


MIXED = """\
vendid=0x2c9
devid=0xd2f0
sysimgguid=0xb8599f0300fc6de4
switchguid=0xb8599f0300fc6de4(b8599f0300fc6de4)
Switch\t41 "S-b8599f0300fc6de4"\t\t# "MF0;"core" # 1:MQM8700/U1" enhanced port 0 lid 10 lmc 0
[1]\t"S-0002c903000002ff"[2]\t\t# "edge" lid 11 4xFDR10
[2][ext 7]\t"S-0002c903000002ff"[1][ext 8]\t\t# "edge" lid 11 2xHDR s=1 w=2
[3]\t"H-0000000000000abc"[2](abd) \t\t# "node2 <b>HCA-1</b>" lid 20 1xNDR
[4]\t"S-b8599f0300fc6de4"[5]\t\t# "MF0;"core" # 1:MQM8700/U1" lid 10 4xEDR
[5]\t"S-b8599f0300fc6de4"[4]\t\t# "MF0;"core" # 1:MQM8700/U1" lid 10 4xEDR

switchguid=0x2c903000002ff(2c903000002ff)
Switch\t8 "S-0002c903000002ff"\t\t# "edge" base port 0 lid 11 lmc 0
[1]\t"S-b8599f0300fc6de4"[2]\t\t# "MF0;"core" # 1:MQM8700/U1" lid 10 2xHDR
[2]\t"S-b8599f0300fc6de4"[1]\t\t# "MF0;"core" # 1:MQM8700/U1" lid 10 4xFDR10
[3]\t"R-00000000000000e0"[1](e1) \t\t# "router" lid 21 ???

rtguid=0xe0
Rt\t1 "R-00000000000000e0"\t\t# "router"
[1](e1) \t"S-0002c903000002ff"[3]\t\t# lid 21 lmc 0 "edge" lid 11 ???

caguid=0xabc
Ca\t2 "H-0000000000000abc"\t\t# "node2 <b>HCA-1</b>"
[2](abd) \t"S-b8599f0300fc6de4"[3]\t\t# lid 20 lmc 0 "MF0;"core" # 1:MQM8700/U1" lid 10 1xNDR
"""


def parse(text: str):
    return parse_fabric(TextFile.of("fabric.topo", text))


@pytest.mark.parametrize("form", FORMS)
def test_both_forms_of_ibnetdiscover_have_the_cables_of_the_simulated_fabric(form):
    cables = {
        ("s0", 1, "s1 - <core>", 1),
        ("s0", 2, "s1 - <core>", 2),
        ("s1 - <core>", 3, "s2", 1),
        ("s2", 2, "s3", 1),
        ("s3", 2, "s0", 3),
    }
    network = topology_of(read_fabric(DATA / form))
    columns = (
        network.channel_source,
        network.source_port,
        network.channel_target,
        network.target_port,
    )
    links = {
        (network.switch_names[s], p, network.switch_names[t], q)
        for s, p, t, q in np.transpose(columns).tolist()
    }
    assert links == cables | {(t, q, s, p) for s, p, t, q in cables}
    hosts = zip(
        network.terminal_names,
        network.terminal_guids,
        network.terminal_switch.tolist(),
        network.terminal_port.tolist(),
        strict=True,
    )
    two = {
        "fabric.topo": ("h3/1", "h3/2"),
        "fabric.p": ("h3@0x0000000000100031", "h3@0x0000000000100032"),
    }
    assert list(hosts) == [
        ("h0", "0x0000000000100001", 0, 4),
        ("h1 mlx5_0", "0x0000000000100011", 0, 5),
        ("h2' - 'x", "0x0000000000100021", 1, 4),
        (two[form][0], "0x0000000000100031", 2, 4),
        (two[form][1], "0x0000000000100032", 3, 4),
    ]
    assert network.attributes["lids"] == {
        "0x0000000000200000": 2,
        "0x0000000000200001": 3,
        "0x0000000000200002": 7,
        "0x0000000000200003": 8,
        "0x0000000000100001": 129,
        "0x0000000000100011": 130,
        "0x0000000000100021": 131,
        "0x0000000000100031": 132,
        "0x0000000000100032": 133,
    }
    assert network.attributes["free_ports"] == 4 * 5 - 15
    assert network.attributes["link_bytes_per_second"] == 1e9  # 4 lanes of 2 Gbit/s


def test_end_ports_of_nodes_that_are_no_hosts_are_left_out_and_counted():
    text = (DATA / "fabric.topo").read_text().replace('"h3"', '"A Technologies Aggregation Node"')
    whole, network = topology_of(parse(text)), topology_of(parse(text), NOT_HOSTS)
    assert (whole.num_terminals, network.num_terminals) == (5, 3)
    assert network.terminal_names == ("h0", "h1 mlx5_0", "h2' - 'x")
    assert (network.attributes["left_out"], "left_out" in whole.attributes) == (2, False)
    np.testing.assert_array_equal(network.channel_source, whole.channel_source)
    np.testing.assert_array_equal(network.channel_capacity, whole.channel_capacity)
    assert topology_of(parse(text), ["MLX5"]).num_terminals == 4
    with pytest.raises(InputError, match="no host remains"):
        topology_of(parse(text), ["h", "Aggregation"])


def test_the_order_of_a_file_does_not_matter():
    text = (DATA / "fabric.topo").read_text()
    records = text.split("\n\n")
    turned = topology_of(parse("\n\n".join([records[0], *records[:0:-1]])))
    expected = topology_of(parse(text))
    assert turned.checksums == expected.checksums


def test_rates_names_routers_and_loops():
    network = topology_of(parse(MIXED))
    assert network.switch_names == ('MF0;"core" # 1:MQM8700/U1', "edge")
    assert network.terminal_names == ("node2 <b>HCA-1</b>", "router")
    # HDR 2x: 100 Gbit/s; FDR10 4x: 4 * 10.3125 * 64 / 66 = 40 Gbit/s
    assert network.source_port.tolist() == [1, 2, 2, 1]
    assert network.channel_capacity.tolist() == pytest.approx([0.4, 0.4, 1.0, 1.0])
    assert network.attributes["link_bytes_per_second"] == 12.5e9
    assert network.attributes["loopback_cables"] == 1
    assert network.attributes["free_ports"] == 41 + 8 - 8


def cables_by_guid(fabric: Fabric) -> dict[int, object]:
    """Return kind, name, size and cables of each node, with the rate and GUID of each port."""
    return {
        node.guid: (
            node.kind,
            node.name,
            node.num_ports,
            {
                p: (
                    fabric.nodes[port.peer[0]].guid,
                    port.peer[1],
                    port.guid,
                    port.width,
                    port.speed,
                )
                for p, port in node.ports.items()
            },
        )
        for node in fabric.nodes
    }


def test_a_network_of_ibsim_is_the_fabric_that_ibnetdiscover_finds_in_the_simulator():
    """Modules, names instead of GUIDs, bases of GUIDs, widths and speeds."""
    cables = cables_by_guid(read_fabric(DATA / "modules.net"))
    assert cables == cables_by_guid(read_fabric(DATA / "modules.topo"))
    assert len(cables) == 6


NAMED = """\
# two switches, two cables between them
Switch\t8 "a"
[1]\t"host a"
[3]\t"b" [3]
[4]\t"b"[4]

Switch 8 "b"
[1]\t"host b"[1]
[3]\t"a"[3]
[4]\t"a"[4]

Hca\t2 "host a"
[1]\t"a"[1]

Hca 2 "host b"
[1]\t"b"[1]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"host b"[1]', '"host c"[1]', "node 'host c', which no node has"),
        ('Switch 8 "b"', 'Switch 8 "a"', "node 'a' was already used"),
        ('[4]\t"b"[4]', '[4]\t"b"[4] w=1', "no width or no speed in common"),
        ('[4]\t"b"[4]', '[4]\t"b"[4] w=16', "width 16 does not exist"),
        ('[4]\t"b"[4]', '[4]\t"b"[4] v=1', "not a port with a cable"),
        ('Hca\t2 "host a"', 'do Unlink "a"\n\nHca\t2 "host a"', "'do' of ibsim are not supported"),
        ('[1]\t"host a"', '@[1]\t"alias"', "are not supported"),
    ],
)
def test_unsupported_lines_of_ibsim_are_rejected(old, new, message):
    text = NAMED.replace(old, new, 1)
    assert text != NAMED
    with pytest.raises(InputError, match=rf"^fabric\.topo:[0-9]+: .*{re.escape(message)}"):
        parse(text)


def test_planes_stay_apart():
    text = (DATA / "small.net").read_text()
    # GUIDs 0x20... and 0x10... become 0xa20... and 0xa10...
    other = re.sub(r"(-000000000|guid=0x|\()0?(?=[12]0)", r"\1a", text)
    network = topology_of(parse(text + "\n" + other))
    assert (network.num_switches, network.attributes["fabrics"]) == (8, 2)
    assert network.attributes["connected"] is False
    assert len(set(network.switch_names)) == 8


@pytest.mark.parametrize("name", ["m8x8f6s1", "r64d6h1"])
def test_the_reference_fabrics_have_the_size_that_their_names_state(name):
    network = topology_of(read_fabric(NETWORKS / f"{name}.net"))
    links = {"m8x8f6s1": 2 * 8 * 7 - 6, "r64d6h1": 64 * 6 // 2}[name]
    assert (network.num_switches, network.num_terminals) == (64, 64)
    assert network.num_channels == 2 * links
    assert network.switch_names[:3] == ("s0", "s1", "s2")


LINES = MIXED.split("\n")


def line_of(start: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if line.startswith(start))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('[3]\t"H-0000000000000abc"[2]', '[3]\t"H-0000000000000abd"[2]', "which no node has"),
        ('[3]\t"H-0000000000000abc"[2](abd) ', '[6]\t"H-0000000000000abc"[2](abd) ', "elsewhere"),
        ('[2]\t"S-b8599f0300fc6de4"[1]', '[4]\t"S-b8599f0300fc6de4"[1]', "not listed at that end"),
        ('[2]\t"S-b8599f0300fc6de4"[1]', '[1]\t"S-b8599f0300fc6de4"[1]', "already listed"),
        ('[2]\t"S-b8599f0300fc6de4"[1]', '[9]\t"S-b8599f0300fc6de4"[1]', "ports 1 to 8"),
        ('Rt\t1 "R-00000000000000e0"', 'Rt\t1 "R-00000000000000e9"', "names GUID 0xe9"),
        ("rtguid=0xe0", "", ""),
        ('Ca\t2 "H-0000000000000abc"', 'Ca\t2 "S-0000000000000abc"', "has the id S-"),
        ('"edge" base port 0 lid 11 lmc 0', '"edge" base port 0 lid 11 lmc 2', "LMC 2"),
        ('"edge" base port 0 lid 11 lmc 0', '"edge" base port 0 lid 20 lmc 0', "at line"),
        ("lid 10 1xNDR", "lid 10 4xNRD", "not a width and speed"),
        ("# lid 20 lmc 0", "# lid 22 lmc 0", "has LID 22, but 20"),
        ("# lid 20 lmc 0", "# lid 60000 lmc 0", "LID 60000 does not exist"),
        ("[2](abd)", "[2](abe)", "has GUID"),
        ('[1]\t"S-0002c903000002ff"[2]', "[1]\tS-0002c903000002ff[2]", "not a port with a cable"),
        ("Switch\t8", "Switch\t900", "has 900 ports"),
        ("Switch\t8", "Swotch\t8", "not a line of ibnetdiscover"),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, message):
    text = MIXED.replace(old, new, 1)
    assert text != MIXED
    if not message:
        parse(text)  # the id says the GUID as well
        return
    with pytest.raises(InputError, match=rf"^fabric\.topo:[0-9]+: .*{re.escape(message)}") as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_one_sided_cables_hosts_without_cable_and_back_to_back_hosts_are_named():
    number = line_of('[2](abd) \t"S')
    one_sided = "\n".join(line for i, line in enumerate(LINES, 1) if i != number)
    with pytest.raises(InputError, match=r"fabric\.topo:8: the cable to port 2 .* not listed"):
        parse(one_sided)
    without = "\n".join(line for i, line in enumerate(LINES, 1) if i not in (8, number))
    with pytest.raises(InputError, match=rf"fabric\.topo:{number - 2}: host .* has no cable"):
        parse(without)
    hosts = """\
Ca\t1 "H-0000000000000001"\t# "a"
[1](2) \t"H-0000000000000003"[1](4)

Ca\t1 "H-0000000000000003"\t# "b"
[1](4) \t"H-0000000000000001"[1](2)

"""
    with pytest.raises(InputError, match=r"fabric\.topo:2: host 'a' is linked to another host"):
        parse(hosts + MIXED)


def test_invalid_utf8_is_kept_as_escapes(tmp_path):
    file = tmp_path / "fabric.topo"
    file.write_bytes(MIXED.encode().replace(b'"edge"', b'"ed\xffge"'))
    assert topology_of(read_fabric(file)).switch_names[1] == r"ed\xffge"


@pytest.mark.parametrize("content", [b"", b"# nothing\n\n", b"a\0b", b"\xff\xfe", b"[1] x\n"])
def test_other_files_are_refused_in_one_sentence(tmp_path, content):
    file = tmp_path / "fabric.topo"
    file.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(str(file))) as error:
        read_fabric(file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("form", FORMS)
def test_every_cut_of_a_file_is_refused_or_has_the_same_network(form):
    text = (DATA / form).read_text()
    whole = topology_of(parse(text))
    for end in range(0, len(text), 7):
        part = outcome(text[:end])
        if isinstance(part, str):
            assert part.startswith("fabric.topo")
        else:
            # what is cut off is a rate or a name at most
            assert part.channel_source.tolist() == whole.channel_source.tolist()
            assert part.terminal_switch.tolist() == whole.terminal_switch.tolist()


@settings(max_examples=150)
@given(
    st.sampled_from([*FORMS, "small.net", "mixed"]),
    st.integers(0, 10_000),
    st.sampled_from(["drop", "double", "swap", "cut", "insert", "replace"]),
    st.text(st.characters(exclude_categories=()), max_size=8),
)
def test_changed_lines_give_a_network_or_one_sentence(form, place, change, text):
    source = MIXED if form == "mixed" else (DATA / form).read_text()
    lines = source.split("\n")
    at = place % len(lines)
    column = place // len(lines) % (len(lines[at]) + 1)
    if change == "drop":
        del lines[at]
    elif change == "double":
        lines.insert(at, lines[at])
    elif change == "swap":
        lines[at], lines[at - 1] = lines[at - 1], lines[at]
    elif change == "cut":
        del lines[at:]
    elif change == "insert":
        lines[at] = lines[at][:column] + text + lines[at][column:]
    else:
        lines[at] = lines[at][:column] + text + lines[at][column + len(text) :]
    network = outcome("\n".join(lines))
    if isinstance(network, str):
        assert network.startswith("fabric.topo")
        assert "\n" not in network
    else:
        assert network.num_switches


STANDARD_ERROR = (
    "ibwarn: [22811] _do_madrpc: recv failed: Connection timed out",
    "ibnetdiscover: iberror: failed: discover failed",
    "src/query_smp.c:227; mad (DR path slid 0; dlid 0; 0,1) bad status 110: Connection timed out",
)


@pytest.mark.parametrize("stray", STANDARD_ERROR)
def test_lines_of_standard_error_are_called_so_in_every_listing(stray):
    readers = [(parse_fabric, (DATA / form).read_text()) for form in FORMS]
    readers += [
        (parse_forwarding_tables, (DATA / "opensm-lfts.dump").read_text()),
        (parse_lane_tables, (DATA / "opensm-sl2vl.dump").read_text()),
        (parse_service_levels, "0x0000000000100001 129 0\n" * 3),
    ]
    for reader, text in readers:
        lines = text.split("\n")
        for place in (0, 2):
            mixed = "\n".join([*lines[:place], stray, *lines[place:]])
            with pytest.raises(InputError, match=rf"^file:{place + 1}: .* standard error"):
                reader(TextFile.of("file", mixed))


def test_options_of_ibnetdiscover_that_list_something_else_are_named():
    head, body = "#\n# Topology file\n#\n", (DATA / "fabric.topo").read_text()
    for heading in ("Chassis 1 (guid 0x8f10400410015)", "Non-Chassis Nodes"):
        with pytest.raises(InputError, match=r"^fabric\.topo:5: .*ibnetdiscover -g"):
            parse(f"{head}\n{heading}\n\n# Spine Nodes\n{body}")
    entry = 'Ca\t : 0x0000000000100000 ports 1 devid 0x1003 vendid 0x2c9 "h0"\n'
    with pytest.raises(InputError, match=r"^fabric\.topo:1: .*lists no cables"):
        parse(entry)


def test_routers_are_left_out_and_counted_unless_they_are_asked_for(tmp_path):
    network = topology_of(parse(MIXED), routers=False)
    assert network.terminal_names == ("node2 <b>HCA-1</b>",)
    assert network.attributes["left_out"] == 1
    assert parse(MIXED).num_router_ports == 1
    (tmp_path / "fabric.topo").write_text(MIXED)
    name = f"infiniband~file={tmp_path / 'fabric.topo'}"
    assert load("topology", name).build().num_terminals == 1
    assert load("topology", f"{name},routers=true").build().num_terminals == 2

"""Files that declare flow control by channel, from the network to the exit code."""

from __future__ import annotations

import json
import random
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from routelab.api import InputError
from routelab.cli import main
from routelab.routing.prove import prove_routes
from routelab.routing.topology import load_network
from routelab.routing.topology_file import load_topology, save_topology, topology_digest

ROUTES = "source,target,switches\nA,C,B,C\nB,D,C,D\nC,A,D,A\nD,B,A,B\n"
KEYS = ("flow_control", "buffer", "ring")
RING = [(a, b, "bubble", 2, "r") for a, b in ("AB", "BC", "CD", "DA")]


def as_csv(links):
    rows = [",".join(map(str, link)) for link in links]
    return "\n".join(["source,target," + ",".join(KEYS), *rows, ""])


def as_json(links):
    edges = [
        {"source": a, "target": b} | {k: v for k, v in zip(KEYS, values, strict=True) if v != ""}
        for a, b, *values in links
    ]
    nodes = [{"id": name} for name in sorted({end for link in links for end in link[:2]})]
    return json.dumps({"nodes": nodes, "links": edges})


def as_graphml(links):
    names = sorted({end for link in links for end in link[:2]})
    nodes = "".join(f"<node id={quoteattr(name)}/>" for name in names)
    keys = "".join(f'<key id="{key}" for="edge" attr.name="{key}"/>' for key in KEYS)
    edges = "".join(
        f'<edge source="{a}" target="{b}">'
        + "".join(
            f'<data key="{k}">{v}</data>' for k, v in zip(KEYS, values, strict=True) if v != ""
        )
        + "</edge>"
        for a, b, *values in links
    )
    return (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
        f'<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>'
    )


FORMS = {"csv": as_csv, "json": as_json, "graphml": as_graphml}


def write(folder, text, suffix="csv"):
    (folder / "routes.csv").write_text(ROUTES)
    file = folder / f"net.{suffix}"
    file.write_text(text)
    return f"graph~file={file}"


def changed(number, **values):
    """The ring, one of whose links has other values."""
    links = [list(link) for link in RING]
    for key, value in values.items():
        links[number][2 + KEYS.index(key)] = value
    return links


@pytest.mark.parametrize("suffix", FORMS)
@pytest.mark.parametrize(
    ("links", "status"),
    [
        pytest.param(RING, "proven", id="all"),
        pytest.param(changed(2, flow_control="plain"), "cycle", id="one is plain"),
        pytest.param(changed(2, flow_control=""), "not enough input", id="one is undeclared"),
        pytest.param(changed(1, buffer=""), "not enough input", id="no buffer"),
        pytest.param(changed(1, buffer=1), "unproven", id="small buffer"),
        pytest.param(changed(0, ring=""), "not enough input", id="no ring"),
        pytest.param(changed(0, ring="other"), "cycle", id="another ring"),
    ],
)
def test_every_form_of_a_network_gives_the_same_verdict(tmp_path, suffix, links, status):
    network = write(tmp_path, FORMS[suffix](links), suffix)
    proof = prove_routes(tmp_path / "routes.csv", network)
    assert proof.status == status
    assert sum(proof.read["flow_control"].values()) == 8


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"flow_control": "bubbles"}, "bubbles"),
        ({"buffer": 0}, "buffer"),
        ({"buffer": 2.5}, "2.5"),
        ({"buffer": "two"}, "two"),
    ],
)
@pytest.mark.parametrize("suffix", FORMS)
def test_wrong_values_are_refused(tmp_path, suffix, values, named):
    with pytest.raises(InputError, match=named):
        load_network(write(tmp_path, FORMS[suffix](changed(1, **values)), suffix))


def test_a_cable_with_a_bubble_at_one_end_is_wrong_input(tmp_path, capsys):
    back = [(b, a, "plain", 2, "") for a, b, *_ in RING]
    network = write(tmp_path, as_csv([*RING, *back])) + ",directed=true"
    assert main(["prove", network, str(tmp_path / "routes.csv")]) == 2
    output = capsys.readouterr()
    assert "B>A is plain" in output.err
    assert "A>B keeps a bubble" in output.err


def test_an_option_for_all_channels_is_refused_beside_the_declaration(tmp_path):
    network = write(tmp_path, as_csv(RING))
    for option in ("plain", "bubble"):
        with pytest.raises(InputError, match="leave the option out"):
            prove_routes(tmp_path / "routes.csv", network, flow_control=option)


def test_files_of_networks_keep_the_declaration_and_its_digest(tmp_path):
    _, network = load_network(write(tmp_path, as_csv(changed(2, flow_control="plain"))))
    save_topology(network, tmp_path / "network.npz")
    loaded = load_topology(tmp_path / "network.npz")
    for name in ("channel_bubble", "channel_buffer", "channel_ring"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(network, name))
    _, plain = load_network(write(tmp_path, as_csv(changed(2, flow_control=""))))
    assert topology_digest(plain) != topology_digest(network)


def test_a_failed_link_ends_the_bubble_of_its_ring_only(tmp_path):
    second = [(b, a, "bubble", 2, "s") for a, b in ("AE", "EF", "FA")]
    _, network = load_network(write(tmp_path, as_csv([*RING, *second])))
    left = network.without(channels=network.links[0])
    assert (left.channel_bubble == 1).all()
    assert len(set(left.channel_ring.tolist()) - {-1}) == 2


def test_next_hops_need_no_criterion_for_bubbles_where_nothing_waits_in_a_cycle(tmp_path):
    table = tmp_path / "table.csv"
    network = write(tmp_path, as_csv(RING))
    table.write_text("switch,target,switches\nA,C,B\nB,C,C\nD,C,C\n")
    assert prove_routes(table, network).status == "proven"
    ahead = dict(zip("ABCD", "BCDA", strict=True))
    rows = [f"{s},{t},{ahead[s]}" for s in "ABCD" for t in "ABCD" if s != t]
    table.write_text("\n".join(["switch,target,switches", *rows, ""]))
    assert prove_routes(table, network).status == "not enough input"
    small = write(tmp_path, as_csv(changed(0, buffer=1)))
    assert prove_routes(table, small).status == "unproven"
    plain = [(a, b, "plain", "", "") for a, b, *_ in RING]
    assert prove_routes(table, write(tmp_path, as_csv(plain))).status == "cycle"


# --- Four meshes of four switches, joined in a ring ---


def meshes(crossing):
    """Links within four 2x2 meshes, and one between each two neighbours."""
    corners = [(m, a, b) for m in range(4) for a, b in ("ab", "bd", "dc", "ca")]
    inside = [(f"m{m}.{a}", f"m{m}.{b}", "plain", 1, "") for m, a, b in corners]
    return inside + [(f"m{m}.b", f"m{(m + 1) % 4}.b", *crossing) for m in range(4)]


def routes_across(vc=""):
    """From each mesh to that after the next: to its corner b, over the ring, and to corner c."""
    lines = ["source,target,switches"]
    for m in range(4):
        hops = [f"m{m}.b"]
        for step in (1, 2):
            at = (m + step) % 4
            hops.append(f"m{at}.b" + (vc if at < m else ""))
        end = f"m{(m + 2) % 4}"
        lines.append(",".join([f"m{m}.a", f"{end}.c", *hops, f"{end}.d", f"{end}.c"]))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("crossing", "vc", "status"),
    [
        (("plain", 1, ""), "", "cycle"),
        (("plain", 1, ""), "@1", "proven"),
        (("bubble", 2, "ring"), "", "proven"),
        (("bubble", 1, "ring"), "", "unproven"),
        (("bubble", 2, ""), "", "not enough input"),
    ],
)
def test_meshes_that_are_joined_in_a_ring(tmp_path, crossing, vc, status):
    network = write(tmp_path, as_graphml(meshes(crossing)), "graphml")
    (tmp_path / "routes.csv").write_text(routes_across(vc))
    assert prove_routes(tmp_path / "routes.csv", network).status == status


def test_meshes_with_mixed_flow_control_in_their_ring_are_refused(tmp_path):
    links = meshes(("bubble", 2, "ring"))
    links[-1] = (*links[-1][:2], "plain", 2, "ring")
    network = write(tmp_path, as_json(links), "json")
    (tmp_path / "routes.csv").write_text(routes_across())
    proof = prove_routes(tmp_path / "routes.csv", network)
    assert proof.status == "cycle"
    assert "m3.b>m0.b is plain" in proof.reason


# --- Damage ---


def damage(text, draw):
    """One wrong thing in a CSV file of links."""
    lines = text.splitlines(keepends=True)
    kind = draw.choice(["lost", "doubled", "cut", "swapped", "encoding"])
    row = draw.randrange(1, len(lines))
    if kind == "lost":
        del lines[row]
    elif kind == "doubled":
        lines.insert(row, lines[row])
    elif kind == "cut":
        return text[: draw.randrange(len(text))].encode()
    elif kind == "swapped":
        cells = lines[row].strip().split(",")
        a, b = draw.sample(range(len(cells)), 2)
        cells[a], cells[b] = cells[b], cells[a]
        lines[row] = ",".join(cells) + "\n"
    else:
        return text.encode("utf-16")
    return "".join(lines).encode()


@pytest.mark.parametrize("seed", range(30))
def test_damage_is_refused_or_gets_the_verdict_of_what_the_file_says(tmp_path, seed):
    """The ring is proven only with all of its links, each with a bubble and room for two."""
    draw = random.Random(seed)
    whole = as_csv(RING)
    network = write(tmp_path, whole)
    damaged = damage(whole, draw)
    (tmp_path / "net.csv").write_bytes(damaged)
    try:
        proof = prove_routes(tmp_path / "routes.csv", network)
    except InputError:
        return
    rows = [line.split(",") for line in damaged.decode().split()[1:]]
    complete = sorted(row[:2] for row in rows) == sorted([a, b] for a, b, *_ in RING)
    kept = all(row[2:] == ["bubble", "2", "r"] for row in rows)
    assert proof.status != "proven" or (complete and kept)

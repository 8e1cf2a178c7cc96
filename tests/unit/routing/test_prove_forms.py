"""Networks and lists in the forms that other programs write, next to a naive reader of each."""

import csv
import io
import json
import random
from collections import Counter
from itertools import product
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

import routelab
from routelab.api import InputError
from routelab.cli import main

# --- a network in each form ------------------------------------------------------------------


class Network:
    """Routers with terminals, and links (source, target, source port, target port, name)."""

    def __init__(self, terminals, links):
        self.terminals, self.links = terminals, links

    def graphml(self, *, data_ports=False):
        keys = [("t", "node", "type"), ("p", "node", "endpoints"), ("n", "edge", "name")]
        keys += [("a", "edge", "source_port"), ("b", "edge", "target_port")]
        yield '<?xml version="1.0" encoding="utf-8"?>'
        yield "<graphml>"
        for id_, part, name in keys:
            yield f'<key id="{id_}" for="{part}" attr.name="{name}"/>'
        yield '<graph edgedefault="undirected">'
        for node, number in self.terminals.items():
            yield f'<node id="{node}">'
            yield '<data key="t">Router</data>'
            yield f'<data key="p">{number}</data>'
            yield "</node>"
        for source, target, port, back, name in self.links:
            ports = f'<data key="a">{port}</data><data key="b">{back}</data>' if data_ports else ""
            at = "" if data_ports else f' sourceport="{port}" targetport="{back}"'
            yield f'<edge source="{source}" target="{target}"{at}>{ports}'
            yield f'<data key="n">{name}</data>'
            yield "</edge>"
        yield "</graph></graphml>"

    def json(self):
        keys = ("source", "target", "source_port", "target_port", "name")
        nodes = [
            {"id": node, "kind": "router", "endpoints": n} for node, n in self.terminals.items()
        ]
        links = [dict(zip(keys, link, strict=True)) for link in self.links]
        text = json.dumps({"nodes": nodes, "links": links}, indent=1, ensure_ascii=False)
        return text.splitlines()

    def csv(self):
        yield "source,target,source_port,target_port,name"
        yield from (",".join(map(str, link)) for link in self.links)

    def lines(self, form):
        return [*{"graphml": self.graphml, "json": self.json, "csv": self.csv}[form]()]

    def channels(self):
        for source, target, port, back, name in self.links:
            yield source, target, port, name
            yield target, source, back, name


def write_lines(file, lines):
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(file)


def hop_text(form, channel, vc=0):
    """A hop over a channel (source, target, port, name)."""
    text = {"switches": channel[1], "ports": channel[2], "links": channel[3]}[form]
    return f"{text}@{vc}" if vc else str(text)


def random_network(draw, *, parallel, uneven=True):
    """A connected network whose links have names and ports of their own."""
    graph = nx.gnm_random_graph(draw.randint(3, 6), draw.randint(4, 9), seed=draw.randint(0, 9999))
    nx.add_path(graph, draw.sample(sorted(graph), len(graph)))
    edges = list(graph.edges)
    edges += draw.sample(edges, draw.randint(1, 2)) if parallel else []
    free = {node: draw.sample(range(20), 20) for node in graph}
    links = [
        (f"µ{a}", f"µ{b}", free[a].pop(), free[b].pop(), f"wire {n}")
        for n, (a, b) in enumerate(edges)
    ]
    number = draw.choice([1, 2])
    terminals = {f"µ{node}": draw.choice([1, 3]) if uneven else number for node in graph}
    return Network(terminals, links)


def random_walks(draw, network):
    """Routes as lists of (channel, vc), with at least one hop, to another router."""
    channels, walks = [*network.channels()], []
    while len(walks) < 8:
        walk, at, vc = [], draw.choice(sorted(network.terminals)), 0
        for _ in range(draw.randint(1, 3)):
            channel = draw.choice([c for c in channels if c[0] == at])
            vc += draw.random() < 0.2
            walk.append((channel, vc))
            at = channel[1]
        if at != walk[0][0][0]:
            walks.append(walk)
    return walks


def route_lines(walks, form):
    yield f"source,target,{form}"
    for walk in walks:
        hops = (hop_text(form, channel, vc) for channel, vc in walk)
        yield ",".join([walk[0][0][0], walk[-1][0][1], *hops])


# --- naive readers ---------------------------------------------------------------------------


class RefusedError(Exception):
    """The naive reader cannot read it."""


def naive_network(file):
    """Terminals of each router, and channels (source, target, port, name)."""
    content = file.read_bytes()
    if file.suffix == ".graphml":
        root = ET.fromstring(content)
        names = {key.get("id"): key.get("attr.name") for key in root.iter("key")}

        def data(element, name, missing):
            values = {names.get(d.get("key"), d.get("key")): d.text for d in element.iter("data")}
            return values.get(name, missing)

        terminals = {n.get("id"): int(data(n, "endpoints", 1)) for n in root.iter("node")}
        links = [
            (
                *(edge.get("source"), edge.get("target")),
                *(int(edge.get(port, -1)) for port in ("sourceport", "targetport")),
                data(edge, "name", ""),
            )
            for edge in root.iter("edge")
        ]
    elif file.suffix == ".json":
        document = json.loads(content.decode("utf-8-sig"))
        terminals = {node["id"]: node.get("endpoints", 1) for node in document["nodes"]}
        keys = {"source": "", "target": "", "source_port": -1, "target_port": -1, "name": ""}
        links = [
            tuple(link.get(key, missing) for key, missing in keys.items())
            for link in document["links"]
        ]
    else:
        links = []
        for row in csv.DictReader(io.StringIO(content.decode("utf-8-sig"))):
            ports = [int(row.get(key) or -1) for key in ("source_port", "target_port")]
            links.append((row["source"], row["target"], *ports, row.get("name", "")))
        terminals = {end: 1 for link in links for end in link[:2]}
    return terminals, [*Network(terminals, links).channels()]


def naive_verdict(network_file, list_file):
    """Verdict, largest load and pairs without a route, of files."""
    terminals, channels = naive_network(network_file)
    header, *rows = csv.reader(io.StringIO(list_file.read_bytes().decode("utf-8-sig")))
    if header[:2] != ["source", "target"] or header[2:] not in (["ports"], ["links"]):
        raise RefusedError
    dependencies, load, of_pair, is_broken = nx.DiGraph(), {}, {}, False
    for source, target, *hops in rows:
        if not (terminals.get(source) and terminals.get(target)):
            raise RefusedError
        at, used = source, []
        for hop in hops:
            text, _, vc = hop.partition("@")
            out = [c for c in range(len(channels)) if channels[c][0] == at]
            out = [c for c in out if str(channels[c][2 if header[2] == "ports" else 3]) == text]
            if len(out) > 1:
                raise RefusedError
            if not out:
                is_broken = True
                break
            used.append((out[0], int(vc or 0)))
            at = channels[out[0]][1]
        else:
            is_broken |= at != target or (source == target and bool(hops))
        nx.add_path(dependencies, used)
        of_pair.setdefault((source, target), []).append(used)
    if is_broken:
        return "broken", None, None
    joined = sum(n * (n - 1) for n in terminals.values())
    for (source, target), routes in of_pair.items():
        if source != target:
            served = terminals[source] * terminals[target]
            joined += served
            for c, _ in (resource for route in routes for resource in route):
                load[c] = load.get(c, 0) + served / len(routes)
    every = sum(terminals.values()) * (sum(terminals.values()) - 1)
    status = "proven" if nx.is_directed_acyclic_graph(dependencies) else "cycle"
    return status, max(load.values(), default=0), every - joined


def naive_table_verdict(network_file, table_file):
    """Verdict and pairs without a route of next hops, for packets that wait for any of them."""
    terminals, channels = naive_network(network_file)
    header, *rows = csv.reader(io.StringIO(table_file.read_bytes().decode("utf-8-sig")))
    if header[:2] != ["switch", "target"] or header[2:] not in (["ports"], ["links"]):
        raise RefusedError
    entries = {}
    for at, target, *hops in rows:
        if at not in terminals or not terminals.get(target) or (at, target) in entries:
            raise RefusedError
        entries[at, target] = []
        for hop in hops if at != target else ():
            text, _, vc = hop.partition("@")
            out = [c for c in range(len(channels)) if channels[c][0] == at]
            out = [c for c in out if str(channels[c][2 if header[2] == "ports" else 3]) == text]
            if len(out) > 1:
                raise RefusedError
            if not out:
                return "broken", None
            entries[at, target].append((out[0], int(vc or 0)))
    entries = {entry: hops for entry, hops in entries.items() if entry[0] != entry[1]}
    # packets in each buffer, by the entry that they wait for
    reached, stack = set(), [entry for entry in entries if terminals[entry[0]]]
    waiting = {}
    while stack:
        at, target = entry = stack.pop()
        if entry in reached:
            continue
        if not entries.get(entry):
            return "broken", None
        reached.add(entry)
        for buffer in entries[entry]:
            after = channels[buffer[0]][1]
            waiting.setdefault(buffer, set()).update({(after, target)} if after != target else ())
            stack += [(after, target)] if after != target else []
    ways = nx.DiGraph(
        ((at, target), (channels[c][1], target))
        for at, target in reached
        for c, _ in entries[at, target]
    )
    if any(not nx.has_path(ways, entry, (entry[1], entry[1])) for entry in reached):
        return "broken", None
    left = dict(waiting)
    while gone := [b for b in left if all({*entries[e]} - {*left} for e in left[b])]:
        for buffer in gone:
            del left[buffer]
    ends = [node for node, number in terminals.items() if number]
    without = sum(
        terminals[a] * terminals[b]
        for a, b in product(ends, ends)
        if a != b and (a, b) not in reached
    )
    return "cycle" if left else "proven", without


def facts(proof):
    missing = proof.facts.get("pairs_without_route") if proof.status != "broken" else None
    return proof.status, pytest.approx(proof.facts.get("max_load")), missing


# --- tests -----------------------------------------------------------------------------------


def test_every_form_has_the_answer_of_our_own_form(tmp_path):
    draw, statuses = random.Random(1), []
    for _ in range(25):
        network = random_network(draw, parallel=False, uneven=False)
        walks = random_walks(draw, network)
        edges = tmp_path / "own.edges"
        write_lines(edges, (f"{link[0]} {link[1]}" for link in network.links))
        own_list = tmp_path / "own.csv"
        write_lines(own_list, route_lines(walks, "switches"))
        number = next(iter(network.terminals.values()))
        own = routelab.prove(own_list, f"graph~file={edges},terminals={number}")
        statuses.append(own.status)
        for form, hops in product(("graphml", "json", "csv"), ("switches", "ports", "links")):
            file, routes = tmp_path / f"n.{form}", tmp_path / "r.csv"
            write_lines(file, network.lines(form))
            write_lines(routes, route_lines(walks, hops))
            terminals = f",terminals={number}" if form == "csv" else ""
            name = f"graph~file={file}{terminals}" if terminals else str(file)
            proof = routelab.prove(routes, name)
            assert facts(own) == facts(proof), (form, hops)
        write_lines(tmp_path / "n.graphml", network.graphml(data_ports=True))
        assert facts(own) == facts(routelab.prove(routes, str(tmp_path / "n.graphml")))
    assert {"proven", "cycle"} <= {*statuses}


def random_next_hops(draw):
    """A network, and (switch, target, next hops) on shortest ways or around a ring."""
    network = random_network(draw, parallel=False, uneven=False)
    if one_way := draw.random() < 0.5:
        ends = [(f"µ{n}", f"µ{(n + 1) % 5}") for n in range(5)]
        links = [(a, b, 1, 2, f"wire {n}") for n, (a, b) in enumerate(ends)]
        network = Network({a: 1 for a, _ in ends}, links)
    channels = [*network.channels()][:: 2 if one_way else 1]
    graph = nx.DiGraph((c[0], c[1]) for c in channels)
    away = {n: nx.single_source_shortest_path_length(graph.reverse(), n) for n in graph}
    table = []
    for at, target in product(graph, graph):
        hops = [c for c in channels if c[0] == at and away[target][c[1]] < away[target][at]]
        if hops and at != target:
            chosen = draw.sample(hops, draw.randint(1, len(hops)))
            table.append((at, target, [(c, draw.choice([0, 0, 1])) for c in chosen]))
    return network, table


def table_lines(table, form):
    yield f"switch,target,{form}"
    for at, target, hops in table:
        yield ",".join([at, target, *(hop_text(form, c, vc) for c, vc in hops)])


def test_next_hops_of_every_form_have_the_answer_of_our_own_form(tmp_path):
    draw, statuses = random.Random(2), []
    for _ in range(25):
        network, table = random_next_hops(draw)
        own = write_lines(tmp_path / "own.edges", (f"{a} {b}" for a, b, *_ in network.links))
        number = next(iter(network.terminals.values()))
        write_lines(tmp_path / "t.csv", table_lines(table, "switches"))
        waits = draw.choice(["any", "one", "escape"])
        expected = routelab.prove(
            tmp_path / "t.csv", f"graph~file={own},terminals={number}", waits=waits
        )
        statuses.append(expected.status)
        for form, hops in product(("graphml", "json"), ("switches", "ports", "links")):
            file = write_lines(tmp_path / f"n.{form}", network.lines(form))
            write_lines(tmp_path / "t.csv", table_lines(table, hops))
            proof = routelab.prove(tmp_path / "t.csv", file, waits=waits)
            assert (proof.status, proof.facts) == (expected.status, expected.facts)
    assert {"proven", "cycle"} <= {*statuses}


def damaged(draw, kind, file, lines):
    """Write lines with one damage of a kind."""
    lines, place = [*lines], draw.randrange(len(lines))
    if kind == "lost line":
        del lines[place]
    elif kind == "doubled line":
        lines.insert(place, lines[place])
    elif kind == "swapped columns":
        marks = [m for m in (",", " ", '"') if len(lines[place].split(m)) > 2]
        if marks:
            cells = lines[place].split(marks[0])
            a, b = draw.sample(range(len(cells)), 2)
            cells[a], cells[b] = cells[b], cells[a]
            lines[place] = marks[0].join(cells)
    content = "".join(f"{line}\n" for line in lines).encode()
    if kind == "cut file":
        content = content[: draw.randrange(len(content))]
    elif kind == "other encoding":
        coding = draw.choice(["latin-1", "utf-16", "utf-16-be", "utf-8-sig", "cp500"])
        content = content.decode().encode(coding)
    file.write_bytes(content)


KINDS = ["none", "lost line", "doubled line", "cut file", "swapped columns", "other encoding"]


def expected_outcomes(kind, routes):
    """Outcomes of which each has to come up among the examples of a damage."""
    if kind == "none":
        return {"proven", "cycle"}
    # a list that lacks a route has fewer pairs; next hops that lack one end in a switch
    is_dead_end = kind == "lost line" and routes == "table"
    return {"broken", "refused"} if is_dead_end else {"refused"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("routes", "form"),
    [
        ("list", "graphml"),
        ("list", "json"),
        ("list", "csv"),
        ("table", "graphml"),
        ("table", "json"),
    ],
)
@pytest.mark.parametrize("hops", ["ports", "links"])
def test_a_damaged_file_is_refused_or_read_as_the_naive_reader_does(
    kind, routes, form, hops, tmp_path
):
    network_file, route_file = tmp_path / f"n.{form}", tmp_path / "r.csv"
    outcomes = Counter()
    for seed in range(30):
        draw = random.Random(f"{kind} {form} {seed}")
        if routes == "list":
            network = random_network(draw, parallel=True)
            route_text = [*route_lines(random_walks(draw, network), hops)]
            victim = draw.choice([network_file, network_file, route_file])
        else:
            network, table = random_next_hops(draw)
            route_text = [*table_lines(table, hops)]
            victim = draw.choice([network_file, route_file])
        for file, lines in ((network_file, network.lines(form)), (route_file, route_text)):
            if file == victim:
                damaged(draw, kind, file, lines)
            else:
                write_lines(file, lines)
        content = network_file.read_bytes() + route_file.read_bytes()
        try:
            proof = routelab.prove(route_file, str(network_file))
        except InputError:
            outcomes["refused"] += 1
            assert kind != "none", content
            continue
        outcomes[proof.status] += 1
        if routes == "list":
            status, load, without = naive_verdict(network_file, route_file)
            assert proof.status == status, content
            if status != "broken":
                assert facts(proof) == (status, load, without), content
        else:
            verdict = naive_table_verdict(network_file, route_file)
            assert (proof.status, proof.facts.get("pairs_without_route")) == verdict, content
    assert expected_outcomes(kind, routes) <= outcomes.keys(), outcomes


def meshes(*, parallel):
    """Four 2x2 meshes, joined in a ring by links from corner 11 to corner 00 of the next."""
    corners = ["00", "01", "10", "11"]
    terminals = {f"m{m}r{xy}": 0 if xy == "01" else 1 for m in range(4) for xy in corners}
    port = dict.fromkeys(terminals, 0)
    links = []

    def add(a, b, name):
        port[a], port[b] = port[a] + 1, port[b] + 1
        links.append((a, b, port[a], port[b], name))

    for m in range(4):
        for a, b in (("00", "10"), ("01", "11"), ("00", "01"), ("10", "11")):
            add(f"m{m}r{a}", f"m{m}r{b}", f"mesh {m} {a}-{b}")
        for lane in ("a", "b") if parallel else ("a",):
            add(f"m{m}r11", f"m{(m + 1) % 4}r00", f"ring {m}{lane}")
    return Network(terminals, links)


def mesh_step(at, target):
    """The next router, and the lane of the ring or None."""
    m, t = int(at[1]), int(target[1])
    xy, goal = at[3:], target[3:] if m == t else "11"
    if m != t and xy == "11":
        return f"m{(m + 1) % 4}r00", "ab"[int(target[4])]
    # first X, then Y
    return (f"m{m}r{goal[0]}{xy[1]}" if xy[0] != goal[0] else f"m{m}r{goal}"), None


def mesh_walks(network, *, dateline):
    by_ends = {}
    for channel in network.channels():
        by_ends.setdefault(channel[:2], []).append(channel)
    for source, target in product(network.terminals, repeat=2):
        if source == target or not network.terminals[source] * network.terminals[target]:
            continue
        walk, at, vc = [], source, 0
        while at != target:
            after, lane = mesh_step(at, target)
            choice = by_ends[at, after]
            channel = choice[-1] if lane == "b" else choice[0]
            # packets change their virtual channel when they come to the first mesh again
            vc |= dateline and at[1] == "3" and after[1] == "0"
            walk.append((channel, int(vc)))
            at = after
        yield walk


@pytest.mark.parametrize("form", ["graphml", "json"])
@pytest.mark.parametrize("hops", ["ports", "links", "switches"])
def test_meshes_in_a_ring_need_a_dateline(form, hops, tmp_path, capsys):
    network = meshes(parallel=hops != "switches")
    file = write_lines(tmp_path / f"n.{form}", network.lines(form))
    routes = tmp_path / "r.csv"
    write_lines(routes, route_lines(mesh_walks(network, dateline=False), hops))
    assert main(["prove", file, str(routes)]) == 5
    assert "ring 0a" in capsys.readouterr().out
    write_lines(routes, route_lines(mesh_walks(network, dateline=True), hops))
    assert main(["prove", file, str(routes)]) == 0
    printed = capsys.readouterr().out
    assert "132 routes for 132 of 132 pairs; 16 switches" in printed
    assert "pairs without route  0 of 132" in printed
    # routes within the meshes are proven alone
    inside = [walk for walk in mesh_walks(network, dateline=False) if same_mesh(walk)]
    pairs = tmp_path / "p.csv"
    write_lines(pairs, ["source,target", *(f"{w[0][0][0]},{w[-1][0][1]}" for w in inside)])
    write_lines(routes, route_lines(mesh_walks(network, dateline=False), hops))
    assert main(["prove", file, str(routes), "--pairs", str(pairs)]) == 0
    assert "24 routes for 24 of 24 pairs" in capsys.readouterr().out


def same_mesh(walk):
    return walk[0][0][0][1] == walk[-1][0][1][1]


def test_a_switch_between_parallel_links_is_refused(tmp_path, capsys):
    network = meshes(parallel=True)
    file = write_lines(tmp_path / "n.graphml", network.graphml())
    write_lines(tmp_path / "r.csv", route_lines(mesh_walks(network, dateline=True), "switches"))
    assert main(["prove", file, str(tmp_path / "r.csv")]) == 2
    assert "may be one of several links" in capsys.readouterr().err


@pytest.mark.parametrize("hops", ["ports", "links"])
def test_next_hops_over_the_meshes_need_a_dateline(hops, tmp_path, capsys):
    network = meshes(parallel=True)
    file = write_lines(tmp_path / "n.graphml", network.graphml())
    by_ends = {}
    for channel in network.channels():
        by_ends.setdefault(channel[:2], []).append(channel)
    for dateline in (False, True):
        lines = [f"switch,target,{hops}"]
        for at, target in product(network.terminals, repeat=2):
            if at != target and network.terminals[target]:
                after, lane = mesh_step(at, target)
                choice = by_ends[at, after]
                channel = choice[-1] if lane == "b" else choice[0]
                # before they come to the first mesh again, packets have a virtual channel apart
                vc = int(dateline and target[1] < at[1])
                lines.append(f"{at},{target},{hop_text(hops, channel, vc)}")
        write_lines(tmp_path / "t.csv", lines)
        assert main(["prove", file, str(tmp_path / "t.csv")]) == (0 if dateline else 5)
        printed = capsys.readouterr().out
        assert ("ring 0a port" in printed) == (not dateline)
        assert "pairs without route  0 of 132" in printed

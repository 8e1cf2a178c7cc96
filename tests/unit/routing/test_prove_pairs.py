"""`--pairs` of `routelab prove`, next to a naive reader that leaves out the rows first."""

import contextlib
import csv
import json
import random
import runpy
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest
from listed_networks import linked, random_network, random_routes

import routelab
from routelab.api import InputError, Topology
from routelab.cli import main
from routelab.routing.prove import prove_routes, write_proof

CHECK = Path(__file__).parents[3] / "instances/check.py"


def write_csv(file, *rows):
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)


def naive_terminal_pairs(pairs, at):
    """The ordered pairs of different hosts that lines name by hosts or switches."""
    ends = {name: {host for host in at if name in (host, at[host])} for name in flat(pairs)}
    return {
        (s, t) for source, target in pairs for s in ends[source] for t in ends[target] if s != t
    }


def flat(pairs):
    return {end for pair in pairs for end in pair}


def naive_answer(routes, at, wanted):
    """Verdict, pairs with a route and largest load of the wanted pairs of hosts only."""
    of_pair = {}
    for source, target, hops in routes:
        of_pair.setdefault((source, target), []).append(hops)
    used, load, joined = set(), {}, 0
    for s, t in wanted:
        if at[s] == at[t]:
            joined += 1
            continue
        levels = {(s, t)}, {(s, at[t]), (at[s], t)}, {(at[s], at[t])}
        listed = next((lists for level in levels if (lists := level & of_pair.keys())), set())
        if len(listed) > 1:
            return None
        joined += len(listed)
        for pair in listed:
            used.add(pair)
            for hops in of_pair[pair]:
                switches = [at[s], *(hop.partition("@")[0] for hop in hops)]
                for link in pairwise(switches):
                    load[link] = load.get(link, 0) + Fraction(1, len(of_pair[pair]))
    dependencies = nx.DiGraph()
    for source, target in used:
        for hops in of_pair[source, target]:
            start = at.get(source, source)
            steps = [
                (a.partition("@")[0], *b.partition("@")[::2]) for a, b in pairwise([start, *hops])
            ]
            nx.add_path(dependencies, [(a, b, vc or "0") for a, b, vc in steps])
    if not used:
        return "refused", joined, 0
    status = "proven" if nx.is_directed_acyclic_graph(dependencies) else "cycle"
    return status, joined, max(load.values(), default=0)


def test_only_the_routes_of_the_pairs_count(tmp_path):
    draw = random.Random(68)
    file, pairs_file, counts = tmp_path / "routes.csv", tmp_path / "pairs.csv", {}
    while sum(counts.values()) < 400:
        graph, switches, at = random_network(draw)
        routes = random_routes(draw, graph, switches, at, with_hosts=True)
        ends = [*flat((s, t) for s, t, _ in routes), draw.choice(sorted(at))]
        listed = [(s, t) for s, t, _ in routes]
        pairs = draw.sample(listed, draw.randint(1, len(listed)))
        pairs += [(draw.choice(sorted(ends)), draw.choice(sorted(ends)))] * draw.choice([0, 1, 2])
        pairs = [pair for pair in pairs if naive_terminal_pairs([pair], at)]
        wanted = naive_terminal_pairs(pairs, at)
        everything = naive_answer(routes, at, {(s, t) for s in at for t in at if s != t})
        if not wanted or everything is None:
            continue
        write_csv(file, ["source", "target", "switches"], *([s, t, *h] for s, t, h in routes))
        write_csv(pairs_file, ["source", "target"], *pairs)
        status, joined, load = naive_answer(routes, at, wanted)
        counts[status] = counts.get(status, 0) + 1
        network = linked(graph, switches, at)
        if status == "refused":
            # rows of one switch may be there, and carry nothing
            with contextlib.suppress(InputError):
                assert prove_routes(file, network, pairs=pairs_file).facts["max_load"] == 0
            continue
        proof = prove_routes(file, network, pairs=pairs_file)
        content = file.read_text() + pairs_file.read_text()
        assert proof.status == status, content
        assert proof.facts["pairs"] == len(wanted), content
        assert proof.facts["pairs_without_route"] == len(wanted) - joined, content
        assert proof.facts["max_load"] == pytest.approx(float(load)), content
        left_out = len(routes) - proof.facts["routes"]
        assert any("not used by the pairs" in note for note in proof.read["notes"]) == bool(
            left_out
        )
    assert min(counts["proven"], counts["cycle"]) > 20, counts


def random_table(draw):
    """A network and next hops: on a ring one way round, or most to a neighbour that is nearer."""
    if draw.random() < 0.5:
        ring = nx.cycle_graph(size := draw.randint(3, 6))
        nodes = [(node, target) for node in ring for target in ring if node != target]
        one_way = {(n, t): [(n + 1) % size] for n, t in nodes}
        return ring, {entry: hops for entry, hops in one_way.items() if draw.random() < 0.99}
    graph = nx.gnm_random_graph(draw.randint(3, 7), draw.randint(4, 12), seed=draw.randint(0, 9999))
    graph.remove_nodes_from([node for node in graph if not graph[node]])
    entries = {}
    for target in draw.sample(sorted(graph), min(len(graph), draw.randint(1, 4))):
        distance = nx.single_source_shortest_path_length(graph, target)
        for node in distance:
            near = [n for n in graph[node] if distance[n] < distance[node] or draw.random() < 0.15]
            if node != target and near and draw.random() < 0.95:
                hops = draw.sample(sorted(near), draw.randint(1, len(near)))
                if draw.random() < 0.02:
                    hops[0] = 99
                entries[node, target] = hops
    return graph, entries


def naive_reached(entries, pairs):
    """Entries to which packets of the pairs come."""
    reached = set()
    for source, target in pairs:
        stack = [source] if (source, target) in entries else []
        while stack:
            node = stack.pop()
            if node == target or (node, target) in reached:
                continue
            reached.add((node, target))
            stack += [hop for hop in entries.get((node, target), ()) if hop != 99]
    return reached


@pytest.mark.parametrize("with_network", [True, False])
def test_only_the_next_hops_that_packets_of_the_pairs_come_to_count(with_network, tmp_path):
    draw = random.Random(7)
    table, pairs_file, counts = tmp_path / "table.csv", tmp_path / "pairs.csv", {}
    recheck = runpy.run_path(str(CHECK))["check_certificate"]

    def write(entries):
        lines = ([f"s{n}", f"s{t}", *(f"s{h}" for h in hops)] for (n, t), hops in entries.items())
        write_csv(table, ["switch", "target", "switches"], *lines)

    while sum(counts.values()) < 200:
        graph, entries = random_table(draw)
        network = None
        if with_network:
            nodes = sorted(graph)
            links = [
                (nodes.index(a), nodes.index(b))
                for edge in graph.edges
                for a, b in (edge, edge[::-1])
            ]
            network = Topology.create(
                num_switches=len(nodes),
                switch_names=[f"s{node}" for node in nodes],
                channel_source=[a for a, _ in links],
                channel_target=[b for _, b in links],
            )
        elif any(99 in hops for hops in entries.values()):
            continue
        targets = sorted({t for _, t in entries})
        known = sorted(graph) if with_network else sorted({n for n, _ in entries} | set(targets))
        pairs = {
            (draw.choice(known), draw.choice(sorted(graph) if with_network else targets))
            for _ in range(draw.randint(1, 12))
        }
        pairs = {(s, t) for s, t in pairs if s != t}
        if not pairs or not entries:
            continue
        write(entries)
        write_csv(pairs_file, ["source", "target"], *((f"s{s}", f"s{t}") for s, t in pairs))
        content = table.read_text() + pairs_file.read_text()
        joined = sum(pair in entries for pair in pairs)
        if not joined:
            with pytest.raises(InputError, match="no next hop for a pair"):
                prove_routes(table, network, pairs=pairs_file)
            continue
        proof = prove_routes(table, network, pairs=pairs_file)
        reached = naive_reached(entries, pairs)
        kept = {entry: hops for entry, hops in entries.items() if entry in reached}
        # without the rows that do not count, the answer is the same without pairs
        write(kept)
        same = prove_routes(table, network)
        assert proof.status == same.status, content
        assert proof.facts["entries"] == len(kept), content
        if reached - entries.keys():
            assert proof.status == "broken", content
        if proof.status != "broken":
            assert proof.facts["pairs"] == len(pairs), content
            assert proof.facts["pairs_without_route"] == len(pairs) - joined, content
            assert proof.facts["max_hops"] == same.facts["max_hops"], content
        if proof.status == "proven":
            write_proof(proof, tmp_path / "proof.json")
            recheck(tmp_path / "proof.json")
        key = proof.status, len(kept) < len(entries)
        counts[key] = counts.get(key, 0) + 1
    assert min(counts.get((status, True), 0) for status in ("proven", "cycle", "broken")) > 2, (
        counts
    )


def test_a_source_without_an_entry_is_a_pair_without_route_and_a_stop_on_the_way_is_broken(
    tmp_path,
):
    (tmp_path / "net.csv").write_text("source,target\nA,B\nB,C\n")
    (tmp_path / "t.csv").write_text("switch,target,switches\nB,C,C\nB,A,A\nA,B,B\nC,B,B\n")
    proof = routelab.prove(tmp_path / "t.csv", str(tmp_path / "net.csv"))
    # A to C, and C to A
    assert (proof.status, proof.facts["pairs_without_route"], proof.facts["pairs"]) == (
        "proven",
        2,
        6,
    )
    (tmp_path / "t.csv").write_text("switch,target,switches\nA,C,B\nB,A,A\nA,B,B\nC,B,B\n")
    proof = routelab.prove(tmp_path / "t.csv", str(tmp_path / "net.csv"))
    assert proof.status == "broken"
    assert "packets for C come to B, which has no next hop" in proof.reason
    # B sends nothing to C, and the packets that would stop there are of another pair
    (tmp_path / "p.csv").write_text("source,target\nB,C\nB,A\n")
    proof = routelab.prove(tmp_path / "t.csv", str(tmp_path / "net.csv"), pairs=tmp_path / "p.csv")
    assert (proof.status, proof.facts["pairs_without_route"], proof.facts["pairs"]) == (
        "proven",
        1,
        2,
    )


FOUR = "source,target,switches\nA,C,B,C\nB,D,C,D\nC,A,D,A\nD,B,A,B\n"


def test_the_answer_counts_pairs_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(FOUR)
    Path("p.csv").write_text("source,target\nA,C\nB,D\nC,A\nA,B\nA,C\n")
    assert main(["prove", "r.csv", "--pairs", "p.csv"]) == 0
    printed = capsys.readouterr().out
    assert "3 routes for 3 of 4 pairs" in printed
    assert "pairs without route  1 of 4" in printed
    assert main(["prove", "r.csv", "--pairs", "p.csv", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["pairs"], answer["pairs_without_route"]) == (4, 1)
    # a broken route of another pair does not count
    Path("r.csv").write_text(FOUR.replace("D,B,A,B", "D,B,A"))
    assert main(["prove", "r.csv"]) == 6
    assert main(["prove", "r.csv", "--pairs", "p.csv"]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("source,target\nA,C\nA,X\n", "p.csv, line 3: 'X' is not in the network"),
        ("source,target\nA,C,B\n", "p.csv, line 2: expected source and target, found 3 cells"),
        ("source,target\nA\n", "p.csv, line 2"),
        ("source,target\n", "p.csv has no pairs"),
        ("target,source\nA,C\n", "p.csv, line 1: 'target,source' is not the heading"),
        ("A,C\n", "p.csv, line 1: 'A,C' is not the heading"),
        ("source,target\nA,A\n", "no line has two different terminals"),
        ("source,target\nA,B\n", "r.csv has no route of a pair in"),
        ("source,target\nA,C", "the last line has no line end"),
        ("", "the file is empty"),
    ],
)
def test_a_wrong_list_of_pairs_is_refused(text, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(FOUR)
    Path("p.csv").write_text(text)
    assert main(["prove", "r.csv", "--pairs", "p.csv"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error


def test_pairs_are_chosen_of_lists_and_tables_only(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text("source,target\n0,1\n")
    assert main(["route", "torus~dims=4", "dor", "-o", "result"]) == 0
    assert main(["prove", "result", "--pairs", "p.csv"]) == 2
    assert "routelab export routes" in capsys.readouterr().err
    assert main(["export", "routes", "torus~dims=4", "dor", "-o", "list"]) == 0
    assert main(["prove", "torus~dims=4", "list", "--pairs", "p.csv"]) == 0
    assert main(["prove", "torus~dims=4", "list", "--pairs", "missing.csv"]) == 2
    Path("fabric.topo").write_text("")
    assert main(["prove", "fabric.topo", "list", "--pairs", "p.csv"]) == 2


@pytest.mark.parametrize("kind", ["lost line", "doubled line", "cut", "swapped", "encoding"])
def test_a_damaged_list_of_pairs_is_refused_or_read_as_the_naive_reader_does(kind, tmp_path):
    file, pairs_file, outcomes = tmp_path / "routes.csv", tmp_path / "pairs.csv", set()
    for seed in range(30):
        draw = random.Random(f"{kind} {seed}")
        graph, switches, at = random_network(draw)
        routes = random_routes(draw, graph, switches, at, with_hosts=False)
        lines = [["source", "target"], *([s, t] for s, t, _ in routes)]
        place = draw.randrange(len(lines))
        if kind == "lost line":
            del lines[place]
        elif kind == "doubled line":
            lines.insert(place, lines[place])
        elif kind == "swapped":
            lines[place] = lines[place][::-1]
        write_csv(file, ["source", "target", "switches"], *([s, t, *h] for s, t, h in routes))
        write_csv(pairs_file, *lines)
        content = pairs_file.read_bytes()
        if kind == "cut":
            content = content[: draw.randrange(len(content))]
        elif kind == "encoding":
            content = content.decode().encode(draw.choice(["latin-1", "utf-16", "utf-8-sig"]))
        pairs_file.write_bytes(content)
        try:
            proof = prove_routes(file, linked(graph, switches, at), pairs=pairs_file)
        except InputError:
            outcomes.add("refused")
            continue
        outcomes.add(proof.status)
        header, *pairs = csv.reader(content.decode("utf-8-sig").splitlines())
        assert header == ["source", "target"]
        wanted = naive_terminal_pairs([tuple(pair) for pair in pairs], at)
        status, joined, load = naive_answer(routes, at, wanted)
        assert proof.status == status
        assert (proof.facts["pairs"], proof.facts["pairs_without_route"]) == (
            len(wanted),
            len(wanted) - joined,
        )
        assert proof.facts["max_load"] == pytest.approx(float(load))
    assert "proven" in outcomes
    assert ("refused" in outcomes) or kind == "doubled line"


def test_repaired_routes_of_pairs_are_proven_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text(FOUR + "A,B,D,C,B\n")
    Path("p.csv").write_text("source,target\nA,C\nB,D\nC,A\nD,B\n")
    assert main(["prove", "r.csv", "--pairs", "p.csv", "--repair", "2", "-o", "new.csv"]) == 5
    assert len(Path("new.csv").read_text().splitlines()) == 5
    assert main(["prove", "new.csv"]) == 0
    Path("t.csv").write_text(
        "switch,target,switches\n"
        + "".join(f"{a},{t},{b}\n" for t in "ABCD" for a, b in RING if a != t)
    )
    Path("p.csv").write_text("source,target\nA,C\nB,D\nC,A\nD,B\n")
    assert main(["prove", "t.csv", "--pairs", "p.csv", "--repair", "2", "-o", "new.csv"]) == 5
    assert len(Path("new.csv").read_text().splitlines()) == 9
    assert main(["prove", "new.csv"]) == 0


RING = ["AB", "BC", "CD", "DA"]

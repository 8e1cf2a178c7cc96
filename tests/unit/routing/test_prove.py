"""Proofs of listed routes, next to a naive twin that reads the same file."""

import csv
import json
import random
import re
import runpy
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

import routelab
from routelab.api import InputError
from routelab.cli import main
from routelab.deadlock import check_table
from routelab.routing.export import export_routes, write_export
from routelab.routing.prove import prove_routes, write_proof
from routelab.routing.repair import repair_routes
from routelab.toolkit.route_list import route_list_lines

RECHECK = Path(__file__).parents[3] / "docs/recheck_certificate.py"
FOUR = "source,target,switches\nA,C,B,C\nB,D,C,D\nC,A,D,A\nD,B,A,B\n"


def naive_verdict(file, vcs=None):
    """The verdict, the routes' largest load, and whether each step of a cycle is a route's."""
    graph, load, broken = nx.DiGraph(), {}, False
    rows = list(csv.reader(file.open()))[1:]
    of_pair = {}
    for source, target, *hops in rows:
        of_pair.setdefault((source, target), []).append(hops)
    for (source, target), routes in of_pair.items():
        for hops in routes:
            at, resources = source, []
            for hop in hops:
                name, _, vc = hop.partition("@")
                resources.append((at, name, int(vc or 0)))
                broken |= at == name or (vcs is not None and int(vc or 0) >= vcs)
                at = name
            broken |= at != target or (source == target and bool(hops))
            graph.add_edges_from(pairwise(resources))
            if source != target:
                for a, b, _ in resources:
                    load[a, b] = load.get((a, b), 0) + 1 / len(routes)
    if broken:
        return "broken", None
    is_acyclic = nx.is_directed_acyclic_graph(graph)
    return "proven" if is_acyclic else "cycle", max(load.values(), default=0)


def random_list(draw, folder):
    """Walks on a random graph, a few of them with a mistake."""
    graph = nx.gnm_random_graph(draw.randint(2, 7), draw.randint(1, 14), seed=draw.randint(0, 9999))
    graph.remove_nodes_from([node for node in graph if not graph[node]])
    nodes = sorted(graph)
    lines = ["source,target,switches"]
    for _ in range(draw.randint(1, 12)):
        source = at = draw.choice(nodes)
        hops, vc = [], 0
        for _ in range(draw.randint(1, 4)):
            at = draw.choice(sorted(graph[at]))
            vc += draw.random() < 0.2
            hops.append(f"s{at}@{vc}" if vc else f"s{at}")
        if at == source:
            continue
        target = draw.choice(nodes) if draw.random() < 0.02 else at
        lines.append(",".join([f"s{source}", f"s{target}", *hops]))
    file = folder / "routes.csv"
    file.write_text("\n".join(lines) + "\n")
    return file if len(lines) > 1 else None


def test_verdicts_and_loads_are_those_of_the_naive_twin(tmp_path):
    draw = random.Random(4)
    counts = {"proven": 0, "cycle": 0, "broken": 0}
    recheck = runpy.run_path(str(RECHECK))["check"]
    while sum(counts.values()) < 500:
        file = random_list(draw, tmp_path)
        if file is None:
            continue
        vcs = draw.choice([None, None, 2])
        status, load = naive_verdict(file, vcs)
        proof = prove_routes(file, vcs=vcs)
        assert proof.status == status, file.read_text()
        counts[status] += 1
        if status != "broken":
            assert proof.facts["max_load"] == pytest.approx(load)
        if status == "proven":
            write_proof(proof, tmp_path / "proof.json")
            recheck(json.loads((tmp_path / "proof.json").read_text()))
        if status == "cycle":
            text = file.read_text()
            for (held, wanted, route), (following, _, _) in pairwise(
                [*proof.cycle, proof.cycle[0]]
            ):
                assert wanted == following
                a, b = (step.replace(">", " ").split() for step in (held, wanted))
                assert a[1] == b[0]
                _, source, _, target = route.split()
                used = [
                    line for line in text.splitlines() if line.startswith(f"{source},{target},")
                ]
                assert any(_uses(line, a, b) for line in used)
    assert min(counts.values()) > 20, counts


def _uses(line, first, second):
    source, _, *hops = line.split(",")
    resources, at = [], source
    for hop in hops:
        name, _, vc = hop.partition("@")
        resources.append([at, name, "vc", vc or "0"])
        at = name
    return (first, second) in list(pairwise(resources))


RING = "torus~dims=4"


@pytest.mark.parametrize(
    ("text", "network", "vcs", "status", "reason"),
    [
        (FOUR, None, None, "cycle", "4 resources wait"),
        (FOUR.replace("D,B,A,B", "D,B,A@1,B@1"), None, None, "proven", "acyclic"),
        (FOUR.replace("D,B,A,B", "D,B,B"), None, None, "proven", "acyclic"),
        (
            FOUR.replace("A,C,B,C", "A,C,B"),
            None,
            None,
            "broken",
            "line 2: .* not end at its target",
        ),
        (FOUR + "A,A,B,A\n", None, None, "broken", "line 6: .* is a loop"),
        (FOUR + "A,A\n", None, None, "cycle", "4 resources wait"),
        (
            FOUR.replace("D,B,A,B", "D,B,A@1,B@1"),
            None,
            1,
            "broken",
            "line 5: .* above the last, 0, at hop 1",
        ),
        (
            "source,target,switches\n0,2,1,2\n0,2,2\n0,2,7\n",
            RING,
            None,
            "broken",
            "line 3: .*hop 1, .2.; 1 more route",
        ),
        ("source,target,links\n0,2,0>1 +X,1>2 +X\n", RING, None, "proven", "acyclic"),
        ("source,target,links\n0,2,0>1 +X,0>1 +X\n", RING, None, "broken", "line 2: .*hop 2"),
        # its own predecessor: a packet that crosses one channel twice
        ("source,target,switches\n0,2,1,0,1,2\n", RING, None, "cycle", "2 resources wait"),
    ],
)
def test_crafted_lists(text, network, vcs, status, reason, tmp_path):
    (tmp_path / "routes.csv").write_text(text)
    proof = prove_routes(tmp_path / "routes.csv", network, vcs)
    assert proof.status == status
    assert re.search(reason, proof.reason), proof.reason


def test_a_table_has_one_verdict_in_both_forms(tmp_path):
    for network, routing in (("torus~dims=4x4", "dor"), ("mesh~dims=4x4", "dor")):
        result = routelab.route(network, routing)
        file = tmp_path / "routes.csv"
        file.write_text("".join(route_list_lines(result.table)))
        proof = routelab.prove(file, network)
        plain = check_table(result.table, "plain")
        assert proof.status == plain.status
        assert proof.cycle == tuple(plain.cycle_steps(result.topology))
        for name in ("max_load", "mean_hops", "max_hops"):
            assert proof.facts[name] == result.facts[name]


def test_results_of_route_are_proven_as_they_are(tmp_path):
    assert main(["route", "torus~dims=4x4", "dor", "-o", str(tmp_path / "dor")]) == 0
    by_folder = prove_routes(tmp_path / "dor")
    # the table relies on bubble flow control, which lists of routes do not have
    assert by_folder.status == "proven"
    assert prove_routes(tmp_path / "dor", switching="wormhole").status == "unproven"
    file = tmp_path / "dor" / "routes.npz"
    assert prove_routes(file, "torus~dims=4x4").facts == by_folder.facts
    assert prove_routes(tmp_path / "dor", vcs=1).status == "proven"
    with pytest.raises(InputError, match="belongs to another topology"):
        prove_routes(file, "torus~dims=4x3")


@pytest.mark.parametrize(
    ("export", "routing", "flow_control"),
    [
        ("angara", "angara-sssp", "bubble"),
        ("booksim", "dor", "plain"),
        ("opensm", "dfsssp", "plain"),
        ("routes", "dor", "plain"),
        ("simgrid", "dor", "plain"),
    ],
)
def test_an_exported_table_has_its_verdict_and_its_facts(export, routing, flow_control, tmp_path):
    network = "torus~dims=4x4"
    write_export(export_routes(export, [network, routing]), tmp_path / "folder")
    proof = prove_routes(tmp_path / "folder", network if export == "routes" else None)
    result = routelab.route(network, routing)
    assert proof.status == check_table(result.table, flow_control).status
    for name in ("max_load", "mean_hops", "max_hops"):
        assert proof.facts[name] == result.facts[name]


def test_a_folder_without_routes_has_the_reason_of_each_format(tmp_path):
    with pytest.raises(InputError, match=r"network.txt not found; .*platform.xml not found"):
        prove_routes(tmp_path)
    (tmp_path / "platform.xml").write_text("<platform><zone><host id='a'/></zone></platform>")
    with pytest.raises(InputError, match="host a has no switch"):
        prove_routes(tmp_path)


def test_bubbles_count_only_in_complete_rings(tmp_path):
    network = "torus~dims=4x4"
    for routing, status in (("dor", "proven"), ("sssp@unrestricted", "cycle")):
        write_export(export_routes("routes", [network, routing]), tmp_path / "list")
        assert prove_routes(tmp_path / "list", network).status == "cycle"
        assert prove_routes(tmp_path / "list", network, flow_control="bubble").status == status
    (tmp_path / "table.csv").write_text("switch,target,switches\nA,B,B\n")
    with pytest.raises(InputError, match="not for next hops"):
        prove_routes(tmp_path / "table.csv", flow_control="bubble")


def test_repaired_routes_are_the_same_and_proven(tmp_path):
    draw = random.Random(9)
    repaired = 0
    while repaired < 100:
        file = random_list(draw, tmp_path)
        proof = prove_routes(file) if file else None
        if proof is None or proof.status != "cycle":
            continue
        if repair_routes(proof, 8, tmp_path / "repaired.csv").startswith("Nothing"):
            # a route that crosses a channel twice waits for itself on any virtual channel
            assert any(held == wanted for held, wanted, _ in proof.cycle) or _crosses_twice(file)
            continue
        repaired += 1
        assert naive_verdict(tmp_path / "repaired.csv")[0] == "proven"
        before, after = (
            sorted(re.sub(r"@[0-9]+", "", line) for line in path.read_text().splitlines())
            for path in (file, tmp_path / "repaired.csv")
        )
        assert before == after


def _crosses_twice(file):
    for line in file.read_text().splitlines()[1:]:
        source, _, *hops = re.sub(r"@[0-9]+", "", line).split(",")
        steps = list(pairwise([source, *hops]))
        if len(set(steps)) < len(steps):
            return True
    return False


def test_too_few_channels_write_nothing(tmp_path):
    (tmp_path / "routes.csv").write_text(FOUR)
    proof = prove_routes(tmp_path / "routes.csv")
    said = repair_routes(proof, 1, tmp_path / "repaired.csv")
    assert "2 virtual channels suffice, 1 were not enough" in said
    assert not (tmp_path / "repaired.csv").exists()


def test_repaired_routes_have_the_form_of_the_list(tmp_path):
    ring = ["0>1 +X", "1>2 +X", "2>3 +X", "3>0 +X"]
    lines = [f"{n},{(n + 2) % 4},{ring[n]},{ring[(n + 1) % 4]}" for n in range(4)]
    (tmp_path / "links.csv").write_text("\n".join(["source,target,links", *lines]) + "\n")
    proof = prove_routes(tmp_path / "links.csv", RING)
    assert proof.status == "cycle"
    repair_routes(proof, 2, tmp_path / "repaired.csv")
    assert (tmp_path / "repaired.csv").read_text().startswith("source,target,links\n")
    assert prove_routes(tmp_path / "repaired.csv", RING).status == "proven"

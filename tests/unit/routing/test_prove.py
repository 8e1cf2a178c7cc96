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
from routelab.api import InputError, Topology
from routelab.cli import main
from routelab.deadlock import check_table
from routelab.routing import repair
from routelab.routing.export import export_routes, write_export
from routelab.routing.prove import prove_routes, write_proof
from routelab.routing.repair import remedies, repair_routes
from routelab.toolkit.route_list import route_list_lines

CHECK = Path(__file__).parents[3] / "instances/check.py"
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
    recheck = runpy.run_path(str(CHECK))["check_certificate"]
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
            recheck(tmp_path / "proof.json")
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
    # the mesh says that it has no rings; the same routes alone say nothing
    ring = "torus~dims=4"
    (tmp_path / "ring.csv").write_text(FOUR.translate(str.maketrans("ABCD", "0123")))
    proofs = [
        prove_routes(tmp_path / "ring.csv", name, flow_control="bubble") for name in (ring, None)
    ]
    assert [proof.status for proof in proofs] == ["proven", "not enough input"]
    assert "does not say which channels are a ring" in proofs[1].reason
    (tmp_path / "line.csv").write_text("source,target,switches\nA,C,B,C\n")
    assert prove_routes(tmp_path / "line.csv", flow_control="bubble").status == "proven"


HOSTS = Topology.create(
    num_switches=4,
    switch_names=list("ABCD"),
    channel_source=[0, 1, 1, 2, 2, 3, 3, 0],
    channel_target=[1, 0, 2, 1, 3, 2, 0, 3],
    terminal_switch=[0, 1, 2, 2, 3],
    terminal_names=["a0", "b0", "c0", "c1", "d0"],
)


@pytest.mark.parametrize(
    ("lines", "joined", "load"),
    [
        # one host of two, and both
        ("A,c0,B,C", 2 + 1, 1),
        ("A,C,B,C", 2 + 2, 2),
        # C stands for the host that has no route of its own, from or to
        ("A,C,B,C\nA,c1,D,C", 2 + 2, 1),
        ("C,A,B,A\nc1,A,D,A", 2 + 2, 1),
        ("C,A,B,A\nc1,A,D,A\nc0,A,D,A", 2 + 2, 2),
        # two routes share one host's packets, and a host that is alone is its switch
        ("A,c0,B,C\nA,c0,D,C", 2 + 1, 0.5),
        ("A,B,B\na0,b0,D,C,B", 2 + 1, 0.5),
    ],
)
def test_routes_of_terminals_stay_apart(lines, joined, load, tmp_path):
    (tmp_path / "r.csv").write_text(f"source,target,switches\n{lines}\n")
    facts = prove_routes(tmp_path / "r.csv", HOSTS).facts
    assert (facts["pairs"] - facts["pairs_without_route"], facts["max_load"]) == (joined, load)


def test_weights_of_terminals_are_their_own(tmp_path):
    lines = ["A,c0,.25,B,C", "A,c0,.75,D,C", "A,c1,1,B,C"]
    (tmp_path / "r.csv").write_text("\n".join(["source,target,weight,switches", *lines]) + "\n")
    facts = prove_routes(tmp_path / "r.csv", HOSTS).facts
    assert (facts["max_load"], facts["mean_hops"]) == (1.25, 1)
    (tmp_path / "r.csv").write_text("source,target,weight,switches\nA,c0,.5,B,C\nA,c1,.5,B,C\n")
    with pytest.raises(InputError, match=r"line 2: .*add up to 1"):
        prove_routes(tmp_path / "r.csv", HOSTS)


def test_two_readings_of_the_routes_of_terminals_are_refused(tmp_path):
    both = Topology.create(
        num_switches=2,
        switch_names=["A", "B"],
        channel_source=[0, 1],
        channel_target=[1, 0],
        terminal_switch=[0, 0, 1, 1],
        terminal_names=["a", "b", "c", "d"],
    )
    (tmp_path / "r.csv").write_text("source,target,switches\nA,c,B\na,B,B\n")
    with pytest.raises(InputError, match=r"line 2: .*list the routes of each pair"):
        prove_routes(tmp_path / "r.csv", both)


def test_repair_keeps_lines_names_and_numbers(tmp_path):
    lines = ["A,c0,B@5,C@5", "A,c1,D,C", "B,D,C@5,D@5", "C,A,D@5,A@5", "d0,B,A@5,B@5"]
    (tmp_path / "r.csv").write_text("\n".join(["source,target,switches", *lines]) + "\n")
    proof = prove_routes(tmp_path / "r.csv", HOSTS)
    assert proof.status == "cycle"
    assert "vc 5" in proof.cycle[0][0]
    repair_routes(proof, 2, tmp_path / "repaired.csv")
    repaired = (tmp_path / "repaired.csv").read_text().splitlines()
    assert [re.sub("@[05]", "", line) for line in repaired[1:]] == [
        re.sub("@[05]", "", line) for line in lines
    ]
    assert all(len(set(re.findall("@[05]", line))) <= 1 for line in repaired)
    proof = prove_routes(tmp_path / "repaired.csv", HOSTS)
    write_proof(proof, tmp_path / "proof.json")
    resources = json.loads((tmp_path / "proof.json").read_text())["resources"]
    assert {vc for _, vc, _ in resources} == {0, 5}
    assert runpy.run_path(str(CHECK))["main"](["--certificate", str(tmp_path / "proof.json")]) == 0


@pytest.mark.parametrize(
    ("old", "new", "notes"),
    [
        ("", "", 0),
        ("A,C,B,C", "A,C,b,C", 1),
        # e with an accent, as one character and as two
        ("A,C,B,C\nB,D", "A,C,\u00e9,C\ne\u0301,D", 1),
        ("A,C,B,C", "A,C,B:1,C", 1),
        ("A,C,B,C", "A@2,C,B,C", 1),
        ("A,C,B,C", "#A,C,B,C", 1),
        ("A,C,B,C", "A,C,B-1,C", 0),
    ],
)
def test_what_may_be_a_typing_error_is_named(old, new, notes, tmp_path):
    (tmp_path / "r.csv").write_text(FOUR.replace(old, new) if old else FOUR)
    assert len(prove_routes(tmp_path / "r.csv").read["notes"]) == notes


def test_the_answer_begins_with_what_was_read(tmp_path, capsys):
    (tmp_path / "r.csv").write_text(FOUR.replace("A,C,B,C", "#A,C,B,C"))
    assert main(["prove", str(tmp_path / "r.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.search(
        "3 routes for 3 of 12 pairs; 4 switches and 4 links, taken from the file", lines[0]
    )
    assert "line 2" in lines[1]
    assert main(["prove", "--format", "json", str(tmp_path / "r.csv")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert next(iter(answer)) == "read"
    assert answer["read"]["pairs_with_route"] == 3
    (tmp_path / "r.csv").write_text(FOUR + "A,B,C,B\n")
    assert main(["prove", str(tmp_path / "r.csv"), "--format", "json"]) == 5
    assert main(["prove", "torus~dims=4", str(tmp_path / "r.csv")]) == 2
    assert "names such as '0' and '1'" in capsys.readouterr().err


def test_routes_that_begin_with_their_source_are_refused(tmp_path):
    (tmp_path / "r.csv").write_text("source,target,switches\nA,B,B\nA,A\nA,C,A,B,C\n")
    with pytest.raises(InputError, match=r"line 4: .*leave out the first 'A'"):
        prove_routes(tmp_path / "r.csv")


def test_a_list_in_the_place_of_the_network_is_refused(tmp_path, capsys):
    (tmp_path / "r.csv").write_text(FOUR)
    for name in ("list.csv", "list.txt"):
        (tmp_path / name).write_text(FOUR)
        assert main(["prove", str(tmp_path / name), str(tmp_path / "r.csv")]) == 2
        assert "is a list of routes; name it last" in capsys.readouterr().err


RING_FILES = {
    "ring.txt": "A B\nB C\nC D\nD A\n",
    "ring.edges": "A B\nB C\nC D\nD A\n",
    "ring.EdgeList": "A B\nB C\nC D\nD A\n",
    "a,b = [ring] #1.csv": "source,target\nA,B\nB,C\nC,D\nD,A\n",
    "ring.json": json.dumps(
        {
            "nodes": [{"id": name} for name in "ABCD"],
            "links": [{"source": a, "target": b} for a, b in ("AB", "BC", "CD", "DA")],
        }
    ),
    **dict.fromkeys(
        ("ring.graphml", "ring.xml"),
        '<graphml><graph edgedefault="undirected">'
        + "".join(f'<node id="{name}"/>' for name in "ABCD")
        + "".join(f'<edge source="{a}" target="{b}"/>' for a, b in ("AB", "BC", "CD", "DA"))
        + "</graph></graphml>",
    ),
}


@pytest.mark.parametrize("name", RING_FILES)
def test_the_path_of_a_network_is_enough(name, tmp_path):
    (tmp_path / name).write_text(RING_FILES[name])
    (tmp_path / "r.csv").write_text(FOUR)
    proof = routelab.prove(tmp_path / "r.csv", str(tmp_path / name))
    by_name = routelab.prove(tmp_path / "r.csv", f"graph~file=[{tmp_path / name}]")
    assert (proof.status, proof.cycle, proof.facts) == (
        by_name.status,
        by_name.cycle,
        by_name.facts,
    )
    assert (proof.status, proof.read["network"], proof.read["links"]) == ("cycle", "named", 4)
    # the network is the file's: B and D are not linked
    (tmp_path / "r.csv").write_text(FOUR.replace("B,D,C,D", "B,D,D"))
    assert routelab.prove(tmp_path / "r.csv", str(tmp_path / name)).status == "broken"


def test_an_edge_list_and_a_fabric_may_have_one_suffix(tmp_path, capsys):
    (tmp_path / "r.csv").write_text(FOUR)
    fabric = tmp_path / "fabric.txt"
    fabric.write_text('vendid=0x2c9\nswitchguid=0x1(1)\nSwitch 4 "S-1" # "s" port 0 lid 1 lmc 0\n')
    assert main(["prove", str(fabric), str(tmp_path / "r.csv"), "--vcs", "2"]) == 2
    assert "is a fabric" in capsys.readouterr().err


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


def test_the_virtual_channels_that_would_help_do(tmp_path):
    draw = random.Random(4)
    helped = 0
    while helped < 30:
        file = random_list(draw, tmp_path)
        proof = prove_routes(file) if file else None
        for remedy in [] if proof is None else remedies(proof):
            helped += 1
            number = int(re.fullmatch(r"(\d+) virtual channels .*--repair \1 -o FILE\)", remedy)[1])
            written = repair_routes(proof, number, tmp_path / "repaired.csv")
            assert f"the same routes on {number} virtual channels" in written
            assert prove_routes(tmp_path / "repaired.csv", vcs=None).status == "proven"


def test_another_waiting_rule_is_named_if_it_proves_the_same_table(tmp_path):
    mesh = nx.convert_node_labels_to_integers(nx.grid_graph((3, 3)))
    file, helped = tmp_path / "r.csv", 0
    for has_escape in (True, False):
        lines = ["switch,target,switches"]
        for target in mesh:
            far = nx.single_source_shortest_path_length(mesh, target)
            for switch in set(mesh) - {target}:
                hops = [n for n in sorted(mesh[switch]) if far[n] < far[switch]]
                hops.sort(key=lambda n, row=switch // 3: n // 3 != row)
                # in dimension order on virtual channel 0
                escape = [f"{hops[0]}@0"] if has_escape else []
                lines.append(
                    ",".join([str(switch), str(target), *escape, *(f"{n}@1" for n in hops)])
                )
        file.write_text("\n".join(lines) + "\n")
        statuses = {waits: prove_routes(file, waits=waits).status for waits in ("any", "escape")}
        for waits in ("one", "any", "escape"):
            named = re.findall(
                r"--waits (\w+)", " ".join(remedies(prove_routes(file, waits=waits), waits))
            )
            if statuses.get(waits) != "proven":
                assert named == [rule for rule in statuses if statuses[rule] == "proven"]
                helped += len(named)
    assert helped


def test_virtual_channels_for_very_many_routes_are_sought_only_if_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(repair, "MOST_TRIED", 3)
    (tmp_path / "r.csv").write_text(FOUR)
    (remedy,) = remedies(prove_routes(tmp_path / "r.csv"))
    assert "--repair N looks for" in remedy


def test_pairs_are_counted_by_what_is_wrong_with_their_routes(tmp_path, capsys):
    lines = ["0,2,1,2", "0,2,2", "1,3,2", "1,0,0@9", "0,1,3", "0,0,1,0", "2,0,0", "2,0,0"]
    (tmp_path / "r.csv").write_text("\n".join(["source,target,switches", *lines]) + "\n")
    assert main(["prove", "torus~dims=4", str(tmp_path / "r.csv"), "--vcs", "2"]) == 6
    printed = capsys.readouterr().out
    for fault, pairs in (
        ("a link that does not exist", 2),  # 0,2 and 2,0
        ("a virtual channel that does not exist", 1),
        ("an end elsewhere", 2),
        ("a loop", 1),
    ):
        assert f"pairs whose route has {fault}: {pairs}\n" in printed


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


def test_a_cycle_that_bubbles_may_make_harmless_names_the_option(tmp_path):
    option, network = "--flow-control bubble", "torus~dims=4x2x2x2"
    for format_name in ("simgrid", "routes"):
        files = export_routes(format_name, [network, "angara-sssp"])
        write_export(files, tmp_path / format_name)
    platform, listed = tmp_path / "simgrid", tmp_path / "routes"
    proof = prove_routes(platform)
    assert (proof.status, option in proof.reason) == ("cycle", True)
    assert option not in prove_routes(platform, switching="wormhole").reason
    # what the answers to that name is possible
    assert "export routes" in prove_routes(platform, flow_control="bubble").reason
    with pytest.raises(InputError, match="export routes"):
        prove_routes(platform, network, flow_control="bubble")
    proof = prove_routes(listed, network)
    assert (proof.status, option in proof.reason) == ("cycle", True)
    assert prove_routes(listed, network, flow_control="bubble").status == "proven"
    # without a network, nobody knows of rings
    assert option not in prove_routes(listed).reason

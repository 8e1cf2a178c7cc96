"""Tables of next hops: a naive twin, a search for real deadlocks, and damaged certificates."""

import json
import random
import re
import runpy
from itertools import product
from pathlib import Path

import networkx as nx
import pytest

from routelab.api import Topology
from routelab.routing.prove import prove_routes, write_proof
from routelab.routing.repair import repair_routes

CHECK = Path(__file__).parents[3] / "instances/check.py"
WAITS = ("any", "one", "escape")


def random_graph(draw, switches):
    while True:
        graph = nx.gnm_random_graph(switches, draw.randint(switches - 1, 2 * switches), seed=draw)
        if nx.is_connected(graph):
            return graph


def random_entries(draw, graph, target, *, choices, vcs=1, strict=0.7):
    """Next hops of all switches for a target, mostly on shortest routes."""
    distance = nx.single_source_shortest_path_length(graph, target)
    for switch in set(graph) - {target}:
        closer = [n for n in sorted(graph[switch]) if distance[n] < distance[switch]]
        pool = closer if draw.random() < strict else sorted(graph[switch])
        hops = draw.sample(pool, min(len(pool), draw.randint(1, choices)))
        yield switch, [(hop, draw.randrange(vcs)) for hop in hops]


def random_table(draw, *, switches, **options):
    """Entries of all switches of a connected graph for some targets."""
    graph = random_graph(draw, switches)
    return {
        (switch, target): hops
        for target in draw.sample(range(switches), draw.randint(1, switches))
        for switch, hops in random_entries(draw, graph, target, **options)
    }


def write_table(table, file):
    lines = ["switch,target,switches"]
    for (switch, target), hops in table.items():
        lines.append(",".join([f"s{switch}", f"s{target}", *(f"s{n}@{vc}" for n, vc in hops)]))
    file.write_text("\n".join(lines) + "\n")


def reached(table):
    """States (from, to, vc, target) that packets come to; None if some never arrive."""
    states = set()
    for target in {target for _, target in table}:
        waiting = [switch for switch, goal in table if goal == target]
        graph = nx.DiGraph()
        for switch in waiting:
            for hop, vc in table[switch, target]:
                states.add((switch, hop, vc, target))
                graph.add_edge(switch, hop)
        if target not in graph or not set(graph) <= nx.ancestors(graph, target) | {target}:
            return None
    return states


def naive_verdict(table, waits):
    states = reached(table)
    if states is None:
        return "broken"
    remaining = {state[:3] for state in states}
    while True:
        gone = set()
        for buffer in remaining:
            heads = [target for *held, target in states if tuple(held) == buffer]
            free = []
            for target in heads:
                if buffer[1] == target:
                    continue
                removed = [
                    (buffer[1], n, vc) not in remaining for n, vc in table[buffer[1], target]
                ]
                free.append({"any": any(removed), "one": all(removed), "escape": removed[0]}[waits])
            if all(free):
                gone.add(buffer)
        if not gone:
            return "cycle" if remaining else "proven"
        remaining -= gone


def test_verdicts_are_those_of_the_naive_twin(tmp_path):
    draw = random.Random(11)
    recheck = runpy.run_path(str(CHECK))
    counts = dict.fromkeys(product(WAITS, ("proven", "cycle", "broken")), 0)
    for _ in range(500):
        table = random_table(
            draw,
            switches=draw.randint(3, 7),
            choices=draw.randint(1, 3),
            vcs=draw.randint(1, 2),
            strict=draw.choice([0.4, 0.95]),
        )
        waits = draw.choice(WAITS)
        write_table(table, tmp_path / "table.csv")
        proof = prove_routes(tmp_path / "table.csv", waits=waits)
        assert proof.status == naive_verdict(table, waits)
        counts[waits, proof.status] += 1
        if proof.status == "proven":
            write_proof(proof, tmp_path / "proof.json")
            recheck["check_certificate"](tmp_path / "proof.json")
        for (_, wanted, _), (held, _, _) in zip(
            proof.cycle, proof.cycle[1:] + proof.cycle[:1], strict=True
        ):
            assert wanted.split(" or ")[0] == held
    assert min(counts.values()) > 4, counts


def test_wormhole_with_a_choice_is_proven_if_all_dependencies_together_are_acyclic(tmp_path):
    draw = random.Random(17)
    recheck = runpy.run_path(str(CHECK))
    counts = dict.fromkeys(product(WAITS, ("proven", "not enough input", "cycle")), 0)
    del counts["any", "cycle"], counts["escape", "cycle"], counts["one", "not enough input"]
    while min(counts.values()) < 10:
        table = random_table(draw, switches=draw.randint(3, 7), choices=3, strict=0.95)
        states = reached(table)
        if states is None or all(len(hops) == 1 for hops in table.values()):
            continue
        dependencies = nx.DiGraph(
            [
                ((a, b, vc), (b, *hop))
                for a, b, vc, target in states
                if b != target
                for hop in table[b, target]
            ]
        )
        waits = draw.choice(WAITS)
        expected = "proven"
        if not nx.is_directed_acyclic_graph(dependencies):
            expected = "cycle" if waits == "one" else "not enough input"
        write_table(table, tmp_path / "table.csv")
        proof = prove_routes(tmp_path / "table.csv", waits=waits, switching="wormhole")
        assert proof.status == expected
        assert not any("waits" in text or "room" in text for text in proof.preconditions)
        counts[waits, proof.status] += 1
        if proof.status == "proven":
            write_proof(proof, tmp_path / "proof.json")
            recheck["check_certificate"](tmp_path / "proof.json")


def test_virtual_channels_keep_their_numbers(tmp_path):
    head, *lines = RING.splitlines()
    text = "\n".join([head, *(f"{line}@7" for line in lines), "A,D,D@9\n"])
    (tmp_path / "table.csv").write_text(text)
    proof = prove_routes(tmp_path / "table.csv")
    assert proof.status == "cycle"
    repair_routes(proof, 6, tmp_path / "repaired.csv")
    before, after = read_letters(tmp_path / "table.csv"), read_letters(tmp_path / "repaired.csv")
    assert [hop for hop, _ in before.values()] == [hop for hop, _ in after.values()]
    vcs = {vc for _, vc in after.values()}
    # those of the file, and the lowest others
    assert 7 in vcs
    assert vcs <= {7, 9, 0, 1}
    proof = prove_routes(tmp_path / "repaired.csv")
    write_proof(proof, tmp_path / "proof.json")
    content = json.loads((tmp_path / "proof.json").read_text())
    assert {vc for _, vc in content["removal"]} == vcs
    assert runpy.run_path(str(CHECK))["main"](["--certificate", str(tmp_path / "proof.json")]) == 0


def read_letters(file):
    rows = (line.split(",") for line in sorted(file.read_text().splitlines())[:-1])
    return {
        (switch, target): (hop.partition("@")[0], int(hop.partition("@")[2] or 0))
        for switch, target, hop in rows
    }


def test_terminals_have_next_hops_of_their_own(tmp_path):
    """A naive table has a link to each terminal instead."""
    draw = random.Random(13)
    recheck = runpy.run_path(str(CHECK))
    counts = dict.fromkeys(("proven", "cycle"), 0)
    while min(counts.values()) < 20:
        graph = random_graph(draw, draw.randint(3, 5))
        links = [*graph.edges, *((b, a) for a, b in graph.edges)]
        network = Topology.create(
            num_switches=len(graph),
            switch_names=[f"s{n}" for n in graph],
            channel_source=[a for a, _ in links],
            channel_target=[b for _, b in links],
            terminal_switch=sorted([*graph, *graph]),
            terminal_names=[f"s{100 + n}" for n in range(2 * len(graph))],
        )
        naive, lines = {}, ["switch,target,switches"]
        for home in graph:
            for terminal in (100 + 2 * home, 101 + 2 * home):
                naive[home, terminal] = [(terminal, 0)]
                for switch, hops in random_entries(draw, graph, home, choices=2, strict=0.95):
                    naive[switch, terminal] = hops
                    lines.append(
                        ",".join([f"s{switch}", f"s{terminal}", *(f"s{n}@{v}" for n, v in hops)])
                    )
        (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
        waits = draw.choice(WAITS)
        proof = prove_routes(tmp_path / "table.csv", network, waits=waits)
        assert proof.status == naive_verdict(naive, waits)
        if proof.status == "broken":
            continue
        counts[proof.status] += 1
        assert proof.facts["pairs"] == 2 * len(graph) * (2 * len(graph) - 1)
        assert proof.facts["pairs_without_route"] == 0
        if proof.status == "proven":
            write_proof(proof, tmp_path / "proof.json")
            recheck["check_certificate"](tmp_path / "proof.json")


def test_a_terminal_without_an_entry_has_that_of_its_switch(tmp_path):
    network = Topology.create(
        num_switches=3,
        switch_names=["A", "B", "C"],
        channel_source=[0, 1, 1, 2],
        channel_target=[1, 0, 2, 1],
        terminal_switch=[0, 1, 2, 2],
        terminal_names=["a", "b", "c", "d"],
    )
    table = tmp_path / "table.csv"
    table.write_text("switch,target,switches\nA,C,B\nB,C,C\nB,d,C\n")
    # c follows the entries of C; d has one at B only; nothing leads to a and b
    assert prove_routes(table, network).facts["pairs_without_route"] == 12 - 2 - 1 - 2


def read_table(file):
    table = {}
    for line in file.read_text().splitlines()[1:]:
        switch, target, *hops = line.split(",")
        places = (hop.partition("@") for hop in hops)
        table[int(switch[1:]), int(target[1:])] = [
            (int(n[1:]), int(vc or 0)) for n, _, vc in places
        ]
    return table


def test_repaired_tables_are_the_same_and_proven(tmp_path):
    draw = random.Random(12)
    new = tmp_path / "repaired.csv"
    repaired = dict.fromkeys(WAITS, 0)
    while min(repaired.values()) < 20:
        table = random_table(draw, switches=7, choices=3, vcs=draw.randint(1, 2), strict=0.95)
        waits = draw.choice(WAITS)
        write_table(table, tmp_path / "table.csv")
        proof = prove_routes(tmp_path / "table.csv", waits=waits)
        if proof.status != "cycle":
            continue
        said = repair_routes(proof, 7 * 2, new, waits=waits)
        if said.startswith("Nothing"):
            # packets of one target wait for each other, whatever the others do
            assert any(
                naive_verdict({e: hops for e, hops in table.items() if e[1] == target}, waits)
                == "cycle"
                for _, target in table
            )
            assert not new.exists()
            continue
        after = read_table(new)
        assert naive_verdict(after, waits) == "proven"
        assert {e: [n for n, _ in hops] for e, hops in after.items()} == {
            e: [n for n, _ in hops] for e, hops in table.items()
        }
        needed = max(vc for hops in after.values() for _, vc in hops) + 1
        assert int(re.search(r"on (\d+) virtual", said)[1]) == needed
        new.unlink()
        assert f"{needed} virtual channels suffice" in repair_routes(proof, 1, new, waits=waits)
        assert not new.exists()
        repaired[waits] += 1


def deadlock(table, waits):
    """Search all states of buffers for one packet each: can packets stop for ever?"""
    buffers = sorted({state[:3] for state in reached(table)})
    number = {buffer: n for n, buffer in enumerate(buffers)}

    def arrivals(buffer, target):
        """Contents of a buffer that a packet has just entered: target, and what it waits for."""
        if buffer[1] == target:
            return [(target, None)]
        hops = [number[buffer[1], n, vc] for n, vc in table[buffer[1], target]]
        if waits == "any":
            return [(target, None)]
        return [(target, hop) for hop in (hops if waits == "one" else hops[:1])]

    def moves(state):
        for n, packet in enumerate(state):
            if packet is None:
                continue
            target, chosen = packet
            if buffers[n][1] == target:
                yield n, None, None
                continue
            hops = [number[buffers[n][1], m, vc] for m, vc in table[buffers[n][1], target]]
            for hop in hops if waits != "one" else [chosen]:
                if state[hop] is None:
                    yield n, hop, target

    empty = (None,) * len(buffers)
    seen, stack = {empty}, [empty]
    while stack:
        state = stack.pop()
        following = []
        must = False
        for n, hop, target in moves(state):
            # an adaptive hop is a chance under `escape`, not something to count on
            must |= waits != "escape" or hop is None or hop == state[n][1]
            left = (*state[:n], None, *state[n + 1 :])
            if hop is None:
                following.append(left)
            else:
                following += [
                    (*left[:hop], packet, *left[hop + 1 :])
                    for packet in arrivals(buffers[hop], target)
                ]
        if any(state) and not must:
            return True
        for (switch, target), hops in table.items():
            for m, vc in hops:
                n = number[switch, m, vc]
                if state[n] is None:
                    following += [
                        (*state[:n], packet, *state[n + 1 :])
                        for packet in arrivals(buffers[n], target)
                    ]
        for other in following:
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return False


def test_no_proven_table_reaches_a_deadlock():
    draw = random.Random(3)
    outcomes = []
    while len(outcomes) < 60:
        table = random_table(draw, switches=draw.randint(3, 4), choices=2, strict=0.9)
        states = reached(table)
        waits = draw.choice(WAITS)
        if states is None or len({state[:3] for state in states}) > 7:
            continue
        verdict = naive_verdict(table, waits)
        outcomes.append((verdict, deadlock(table, waits)))
        assert outcomes[-1] != ("proven", True), (waits, table)
    assert ("proven", False) in outcomes
    assert ("cycle", True) in outcomes


RING = """switch,target,switches
A,C,B
B,C,C
B,D,C
C,D,D
C,A,D
D,A,A
D,B,A
A,B,B
"""
CHOICE = """switch,target,switches
A,C,B,D
B,C,C
D,C,C
C,A,B
B,A,A
"""
AROUND = """switch,target,switches
A,C,C,B
B,C,C,A
"""


@pytest.mark.parametrize(
    ("text", "options", "status", "reason"),
    [
        (RING, {}, "cycle", "4 buffers"),
        (RING.replace("D,B,A", "D,B,A@1").replace("A,B,B", "A,B,B@1"), {}, "proven", ""),
        (RING.replace("D,A,A\n", ""), {}, "broken", "packets for A come to D"),
        (RING.replace("D,A,A", "D,A,C"), {}, "broken", "packets for A loop"),
        (CHOICE, {}, "proven", ""),
        (CHOICE, {"waits": "one"}, "proven", ""),
        (CHOICE, {"switching": "wormhole"}, "proven", "all next hops together"),
        (AROUND, {"switching": "wormhole"}, "not enough input", "--waits one"),
        (AROUND, {}, "proven", ""),
        (CHOICE, {"switching": "wormhole", "waits": "one"}, "proven", ""),
        (CHOICE, {"vcs": 1}, "proven", ""),
        (CHOICE.replace("B,C,C", "B,C,C@2"), {"vcs": 2}, "broken", "line 3: .* above the last, 1"),
        (CHOICE + "C,C,X\n", {}, "proven", ""),
    ],
)
def test_crafted_tables(text, options, status, reason, tmp_path):
    (tmp_path / "table.csv").write_text(text)
    proof = prove_routes(tmp_path / "table.csv", **options)
    assert proof.status == status
    assert all(part in proof.reason for part in reason.split(" .*")), proof.reason


def damaged(proof):
    """Copies of a certificate that prove nothing."""
    for place in range(len(proof["removal"])):
        yield proof | {"removal": proof["removal"][:place] + proof["removal"][place + 1 :]}
    yield proof | {"removal": proof["removal"][::-1]}
    yield proof | {"removal": [*proof["removal"], proof["removal"][0]]}
    yield proof | {"entries": proof["entries"][:-1]}
    yield proof | {"entries": [*proof["entries"], proof["entries"][0]]}
    yield proof | {"channels": [[a, c, b] for a, b, c in proof["channels"]]}


def test_a_damaged_certificate_is_refused(tmp_path):
    (tmp_path / "table.csv").write_text(CHOICE)
    write_proof(prove_routes(tmp_path / "table.csv"), tmp_path / "proof.json")
    proof = json.loads((tmp_path / "proof.json").read_text())
    recheck = runpy.run_path(str(CHECK))
    assert recheck["main"](["--certificate", str(tmp_path / "proof.json")]) == 0
    for copy in damaged(proof):
        (tmp_path / "damaged.json").write_text(json.dumps(copy))
        assert recheck["main"](["--certificate", str(tmp_path / "damaged.json")]) == 4
    for field in proof:
        copy = {name: value for name, value in proof.items() if name != field}
        (tmp_path / "damaged.json").write_text(json.dumps(copy))
        assert recheck["main"](["--certificate", str(tmp_path / "damaged.json")]) == 2

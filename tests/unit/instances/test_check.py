"""The stand-alone checker: values by hand, wrong entries, damaged files, routelab's verdict."""

from __future__ import annotations

import ast
import contextlib
import gzip
import hashlib
import io
import json
import math
import random
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import routelab
from routelab.api import InputError
from routelab.routing.prove import Proof, prove_routes

PROGRAM = Path(__file__).parents[3] / "instances/check.py"
TREE = Path(__file__).with_name("tree_routes.awk")
RULES = {
    "format": "routing-instance/1",
    "title": "A small network",
    "terminals": 1,
    "virtual_channels": 1,
    "per": "hop",
    "table": "any",
    "max_hops": None,
    "whole_loads": True,
}
RING = ["A,B", "B,C", "C,D", "D,A", "B,A", "C,B", "D,C", "A,D"]
# A and C send clockwise to each other, B and D the other way: two routes on each channel, no cycle
GOOD = """\
source,target,switches
A,B,B
A,C,B,C
A,D,D
B,A,A
B,C,C
B,D,A,D
C,A,D,A
C,B,B
C,D,D
D,A,A
D,B,C,B
D,C,C
"""
GOOD_HOPS = """\
switch,target,next
A,B,B
C,B,B
D,B,C
A,C,B
B,C,C
D,C,C
B,A,A
C,A,D
D,A,A
A,D,D
B,D,A
C,D,D
"""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Benchmark:
    """A folder with check.py, one instance and one entry."""

    folder: Path
    network: list[str] = field(default_factory=lambda: list(RING))
    rules: dict[str, Any] = field(default_factory=dict)
    routes: str = GOOD
    value: int | str = 2
    bound: str | None = None
    """None: weight 1 on each channel."""

    def __post_init__(self) -> None:
        shutil.copy(PROGRAM, self.folder)
        self.main: Callable[[list[str]], int] = runpy.run_path(str(self.folder / "check.py"))[
            "main"
        ]
        self.write()

    @property
    def instance(self) -> Path:
        return self.folder / "v1" / "small"

    @property
    def entry(self) -> Path:
        return self.folder / "entry"

    def write(self, **claims: Any) -> None:
        """Write all files as they should be, except for claims of about.json."""
        self.instance.mkdir(parents=True, exist_ok=True)
        self.entry.mkdir(exist_ok=True)
        heading = "source,target,capacity" if self.network[0].count(",") == 2 else "source,target"
        network = "\n".join([heading, *self.network, ""]).encode()
        rules = json.dumps(RULES | {"name": "small"} | self.rules).encode()
        index = f"small,{sha256(network)},{sha256(rules)},"
        heading = "name,network_sha256,instance_sha256,retired"
        (self.folder / "v1" / "index.csv").write_text(f"{heading}\n{index}\n")
        (self.instance / "network.csv").write_bytes(network)
        (self.instance / "instance.json").write_bytes(rules)
        ends = [",".join(line.split(",")[:2]) for line in self.network]
        bound = self.bound or "\n".join(["source,target,weight", *(f"{e},1" for e in ends), ""])
        (self.instance / "bound.csv.gz").write_bytes(gzip.compress(bound.encode()))
        (self.entry / "routes.csv.gz").write_bytes(gzip.compress(self.routes.encode()))
        about = {
            "format": "routing-entry/1",
            "instance": "small",
            "network": sha256(network),
            "who": "a test",
            "value": self.value,
            "routes": sha256(self.routes.encode()),
        }
        (self.entry / "about.json").write_text(json.dumps(about | claims))

    def run(self, *arguments: str) -> tuple[int, str]:
        """Return exit code and what is printed, one line."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = self.main(list(arguments))
        assert printed.getvalue().count("\n") == 1
        return code, printed.getvalue().strip()

    def check(self, routes: str | None = None, /, **claims: Any) -> tuple[int, str]:
        """Check the entry, with other routes and other claims if there are some."""
        self.routes = self.routes if routes is None else routes
        self.write(**claims)
        return self.run("small", str(self.entry))

    def check_bound(self, bound: str | None = None) -> tuple[int, str]:
        self.bound = bound
        self.write()
        return self.run("small")


@pytest.fixture
def benchmark_of(tmp_path: Path) -> Callable[..., Benchmark]:
    return lambda **content: Benchmark(tmp_path, **content)


def without(line: str) -> str:
    assert f"\n{line}\n" in GOOD
    return GOOD.replace(f"\n{line}\n", "\n")


# --- values computed by hand -------------------------------------------------------------------

FINE = "accepted: maximum load 2; bound 2 (gap 0.0 %); 1 virtual channel; at most 2 hops"


def test_a_good_entry_is_accepted_by_the_program_alone(benchmark_of):
    bench = benchmark_of()
    command = [sys.executable, "-I", "-S", str(bench.folder / "check.py"), "small"]
    for arguments, printed in (([str(bench.entry)], FINE), ([], "bound: 2")):
        answer = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, printed + "\n", "")


@pytest.mark.parametrize("per", ["hop", "pair"])
@pytest.mark.parametrize("table", ["any", "destination"])
def test_both_forms_of_routes_are_read(benchmark_of, per, table):
    bench = benchmark_of(rules={"per": per, "table": table})
    assert bench.check(GOOD) == (0, FINE)
    assert bench.check(f"# by hand\n{GOOD.replace('A,C,B,C', 'A,C,B@0,C@0')}\n") == (0, FINE)
    for hops in (GOOD_HOPS, GOOD_HOPS.replace("next", "switches"), GOOD_HOPS + "A,A,B\n"):
        code, text = bench.check(hops)
        if per == "pair":
            assert (code, text) == (0, FINE)
        else:
            assert (code, text[:20]) == (7, "outside: next hops a")


def test_terminals_of_each_switch_count(benchmark_of):
    # pairs: A-B 2, A-C 6, B-C 3. A>B carries 2 + 6, B>C 6 + 3; to all sides: 2 (2 + 2 x 6 + 3) / 8
    routes = "source,target,switches\nA,B,B\nA,C,B,C\nB,A,A\nB,C,C\nC,A,D,A\nC,B,B\n"
    bench = benchmark_of(rules={"terminals": {"A": 2, "B": 1, "C": 3, "D": 0}}, value=9)
    assert bench.check_bound() == (0, "bound: 5 (17/4)")
    said = "accepted: maximum load 9; bound 5 (gap 80.0 %); 1 virtual channel; at most 2 hops"
    assert bench.check(routes) == (0, said)
    code, text = bench.check(GOOD)
    assert (code, text) == (7, "outside: the route from A to D joins no pair of the instance")
    bench.rules = {"terminals": 3}
    bench.value = 18
    assert bench.check(GOOD)[1].startswith("accepted: maximum load 18; bound 18 (gap")


def test_capacities_divide_loads(benchmark_of):
    # every channel has 2 routes; a quarter of the bound's weights is 1/3 of a channel
    capacities = ["3", "3", "3", "3", "1.5", "2", "2", "2"]
    network = [f"{ends},{capacity}" for ends, capacity in zip(RING, capacities, strict=True)]
    bench = benchmark_of(network=network, rules={"whole_loads": False}, value="4/3")
    # 16 hops over 12 + 7.5
    assert bench.check_bound() == (0, "bound: 32/39")
    code, text = bench.check(GOOD)
    assert (code, text[:46]) == (0, "accepted: maximum load 4/3; bound 32/39 (gap 6")
    assert bench.check(value="8/6")[0] == 0
    bench.rules = {}
    assert bench.check()[0] == 2


def test_weights_of_several_routes_are_shares(benchmark_of):
    # 2/3 of A's packets for C go by B, 1/3 by D: A>D and D>C have 2 + 1/3
    weighted = GOOD.replace("switches", "weight,switches", 1)
    lines = weighted.splitlines()[1:]
    rows = [",".join([*line.split(",")[:2], "7", *line.split(",")[2:]]) for line in lines]
    rows[1] = "A,C,2,B,C\nA,C,1,D,C"
    weighted = "\n".join(["source,target,weight,switches", *rows, ""])
    bench = benchmark_of(rules={"whole_loads": False}, value="7/3")
    said = "accepted: maximum load 7/3; bound 2 (gap 16.7 %); 1 virtual channel; at most 2 hops"
    assert bench.check(weighted) == (0, said)
    # without weights, routes have equal shares
    bench.value = "5/2"
    assert bench.check(GOOD + "A,C,D,C\n")[0] == 0
    assert bench.check(weighted.replace("A,C,1,", "A,C,2,"))[0] == 0
    for weight in ("0", "-1", "0.5", "x", ""):
        assert bench.check(weighted.replace("A,C,1,", f"A,C,{weight},"))[0] == 2
    bench.rules = {"table": "destination", "whole_loads": False}
    assert bench.check()[0] == 2
    assert bench.check(GOOD + "A,C,D,C\n")[0] == 7
    bench.rules = {}
    one_each = weighted.replace("A,C,1,D,C\n", "")
    assert bench.check(one_each)[1] == "outside: each pair has one route, so that it has no weight"
    assert bench.check(GOOD + "A,C,D,C\n")[1] == (
        "outside: the route from A to C is the second of its pair"
    )


def test_sums_of_weights_that_give_endless_digits_are_refused(benchmark_of):
    rows = ["source,target,weight,switches"]
    for number, line in enumerate(GOOD.splitlines()[1:]):
        source, target, *hops = line.split(",")
        rows.append(",".join([source, target, str(10**17 + number), *hops]))
    code, text = benchmark_of(rules={"whole_loads": False}).check("\n".join([*rows, ""]))
    assert (code, text[:31]) == (2, "cannot accept: the sums of the ")


def test_the_longest_route_and_virtual_channels(benchmark_of):
    longer = GOOD.replace("A,B,B\n", "A,B,D@1,C@1,B@2\n")
    bench = benchmark_of(rules={"max_hops": 2, "virtual_channels": 3}, value=3)
    assert bench.check(longer) == (7, "outside: the route from A to B has more than 2 hops")
    bench.rules["max_hops"] = 3
    said = "accepted: maximum load 3; bound 2 (gap 50.0 %); 3 virtual channels; at most 3 hops"
    assert bench.check(longer) == (0, said)
    bench.rules["per"] = "pair"
    assert bench.check(longer)[1] == "outside: the route from A to B changes its virtual channel"
    assert bench.check(longer.replace("@2", "@1"))[0] == 0


# --- wrong entries -----------------------------------------------------------------------------

CLOCKWISE = GOOD.replace("B,D,A,D", "B,D,C,D").replace("D,B,C,B", "D,B,A,B")


@pytest.mark.parametrize(
    ("routes", "claims", "code", "sentence"),
    [
        (CLOCKWISE, {}, 5, "cycle: "),
        (GOOD.replace("A,B,B\n", "A,B,B@1\n"), {}, 7, "outside: B@1: too many virtual channels"),
        (without("D,C,C"), {}, 7, "outside: there is no route from D to C"),
        (GOOD.replace("A,C,B,C", "A,C,C"), {}, 6, "broken: there is no channel from A to C"),
        (GOOD.replace("A,C,B,C", "A,C,B"), {}, 6, "broken: the route from A to C ends at B"),
        (GOOD.replace("A,C,B,C", "A,C"), {}, 6, "broken: the route from A to C ends at A"),
        (GOOD + "A,C,B,C\n", {}, 6, "broken: the route from A to C is listed twice"),
        (GOOD + "A,A,B,A\n", {}, 7, "outside: the route from A to A joins no pair of the instance"),
        (GOOD, {"network": "0" * 64}, 7, "outside: about.json is of another network, or instance"),
        (GOOD, {"instance": "large"}, 7, "outside: about.json is of another network, or instance"),
        (GOOD + "A\n", {}, 2, "cannot accept: 'A': no comma"),
        (GOOD, {"value": 1}, 2, "cannot accept: about.json claims the value 1, and it is 2"),
        (GOOD, {"value": "5/2"}, 2, "cannot accept: about.json claims the value 5/2, and it is 2"),
        (GOOD, {"value": True}, 2, "cannot accept: about.json: the value 'True' is not a number"),
        (GOOD, {"value": "2/0"}, 2, "cannot accept: about.json: the value '2/0' is not a number"),
        (GOOD, {"routes": "0" * 64}, 2, "cannot accept: about.json claims another SHA-256"),
        (GOOD, {"more": 1}, 2, "cannot accept: about.json must have the fields format, "),
    ],
)
def test_wrong_entries_are_refused_with_a_sentence(benchmark_of, routes, claims, code, sentence):
    exit_code, text = benchmark_of().check(routes, **claims)
    assert (exit_code, text[: len(sentence)]) == (code, sentence)


@pytest.mark.parametrize(
    ("new", "code", "sentence"),
    [
        ("D,C,A\n", 6, "broken: packets from A for C never arrive"),
        ("", 6, "broken: the route from A to C ends at D"),
        ("D,C,B\n", 6, "broken: there is no channel from D to B"),
        ("D,C,C,A\n", 7, "outside: packets for C at D have 2 next hops"),
        ("D,C,C\nD,C,A\n", 7, "outside: packets for C at D: listed twice"),
        ("D,C,C\nD,C,C\n", 6, "broken: packets for C at D: listed twice"),
        ("D,C,C@1\n", 7, "outside: packets for C at D change their virtual channel"),
        ("D,C,C@2\n", 7, "outside: C@2: too many virtual channels"),
        ("D,C\n", 2, "cannot accept: packets for C at D have 0 next hops"),
    ],
)
def test_wrong_next_hops_are_refused_with_a_sentence(benchmark_of, new, code, sentence):
    bench = benchmark_of(rules={"per": "pair", "virtual_channels": 2})
    # for C, A sends to D, and D has the entry of the case
    hops = GOOD_HOPS.replace("A,C,B\n", "A,C,D\n").replace("D,C,C\n", new)
    exit_code, text = bench.check(hops)
    assert (exit_code, text[: len(sentence)]) == (code, sentence)


def test_a_pair_without_next_hops_is_lost(benchmark_of):
    bench = benchmark_of(rules={"per": "pair"})
    code, text = bench.check(GOOD_HOPS.replace("D,C,C\n", ""))
    assert (code, text) == (7, "outside: there is no route from D to C")


def test_a_cycle_is_shown_by_its_channels(benchmark_of):
    code, text = benchmark_of().check(CLOCKWISE)
    channels = text.removeprefix("cycle: ").split(" -> ")
    assert (code, channels[0], len(set(channels))) == (5, channels[-1], 4)
    assert set(channels) == {"A>B@0", "B>C@0", "C>D@0", "D>A@0"}
    for a, b in pairwise(channels):
        assert a[2] == b[0]


def test_a_long_cycle_is_shortened(benchmark_of):
    names = [f"s{n}" for n in range(50)]
    network = [f"{a},{b}" for a, b in pairwise([*names, names[0]])]
    routes = ["source,target,switches"]
    for n, source in enumerate(names):
        others = [*names[n + 1 :], *names[:n]]
        routes += [",".join([source, other, *others[: k + 1]]) for k, other in enumerate(others)]
    bench = benchmark_of(network=network)
    code, text = bench.check("\n".join([*routes, ""]))
    assert (code, text.count(" -> "), text[-7:]) == (5, 8, " -> ...")


def test_an_entry_without_routes_is_not_enough_input(benchmark_of):
    bench = benchmark_of()
    (bench.entry / "routes.csv.gz").unlink()
    assert bench.run("small", str(bench.entry))[0] == 3
    (bench.instance / "bound.csv.gz").unlink()
    assert bench.run("small") == (3, "not enough input: small has no bound")


def test_a_changed_instance_is_refused(benchmark_of):
    bench = benchmark_of()
    for file in ("network.csv", "instance.json"):
        bench.write()
        path = bench.instance / file
        path.write_bytes(path.read_bytes() + b"\n")
        for arguments in (["small"], ["small", str(bench.entry)]):
            code, text = bench.run(*arguments)
            assert (code, text) == (
                2,
                f"cannot accept: {file} of small is not the one in index.csv",
            )
    assert bench.run("large")[0] == 2


@pytest.mark.parametrize("arguments", [[], ["--certificate"], ["a", "b", "c"], ["..", "x"], ["\0"]])
def test_wrong_arguments_are_one_line(benchmark_of, arguments):
    assert benchmark_of().run(*arguments)[0] == 2


# --- bounds ------------------------------------------------------------------------------------


def naive_optimum(lines: list[str]) -> int:
    """Least largest load of one path for each pair, deadlocks aside: all choices, cut early."""
    graph = nx.DiGraph([line.split(",")[:2] for line in lines])
    choices = [
        sorted(nx.all_simple_paths(graph, a, b), key=len) for a in graph for b in graph if a != b
    ]
    best = len(choices)

    def extend(pair: int, load: dict[tuple[str, str], int]) -> None:
        nonlocal best
        if max(load.values(), default=0) >= best:
            return
        if pair == len(choices):
            best = max(load.values())
            return
        for path in choices[pair]:
            more = dict(load)
            for channel in pairwise(path):
                more[channel] = more.get(channel, 0) + 1
            extend(pair + 1, more)

    extend(0, {})
    return best


BRIDGE = ["A,B", "B,A", "B,C", "C,B", "C,A", "A,C", "C,D", "D,C"]


@pytest.mark.parametrize("network", [RING, BRIDGE], ids=["ring", "bridge"])
def test_a_changed_weight_gives_a_weaker_bound_or_none(benchmark_of, network):
    bench = benchmark_of(network=network)
    optimum = naive_optimum(network)
    # all weight where the traffic of the bridge has to be: D sends to three switches
    best = [1] * 8 if network is RING else [0] * 6 + [0, 1]
    bounds, codes = [], set()
    for place, weight in [(0, best[0]), *((p, w) for p in range(8) for w in CHANGES)]:
        weights = [*best[:place], weight, *best[place + 1 :]]
        lines = [f"{ends},{w}" for ends, w in zip(network, weights, strict=True)]
        code, text = bench.check_bound("\n".join(["source,target,weight", *lines, ""]))
        codes.add(code)
        if code == 0:
            bounds.append(int(text.split()[1]))
    assert bounds[0] == optimum == max(bounds)
    assert min(bounds) < optimum
    assert codes == ({0, 2} if network is RING else {0, 2, 4})


CHANGES = [0, 2, 7, 10**17, -1, "1.5", "x", "", "1e3", "nan", 10**30]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text + "A,B,1\n", 4),
        (lambda text: text + "A,C,1\n", 4),
        (lambda text: text.replace("A,B,1\n", ""), 0),
        (lambda text: "source,target,weight\n", 4),
        (lambda text: text.replace(",1", ",0"), 4),
        (lambda text: text + "A\n", 2),
        (lambda text: text.replace("weight", "load"), 2),
    ],
)
def test_other_faults_of_a_bound(benchmark_of, change, code):
    text = "\n".join(["source,target,weight", *(f"{ends},1" for ends in RING), ""])
    assert benchmark_of().check_bound(change(text))[0] == code


# --- a program that shares nothing with routelab or with check.py ------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_routes_of_a_stranger_are_accepted(benchmark_of, seed):
    awk = shutil.which("awk")
    if awk is None:
        pytest.skip("no awk on this machine")
    graph = nx.connected_watts_strogatz_graph(16, 4, 0.4, seed=seed)
    network = [f"n{a},n{b}" for a, b in nx.DiGraph(graph).edges]
    bench = benchmark_of(network=network)
    command = [awk, "-f", str(TREE), str(bench.instance / "network.csv")]
    routes = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    bench.value = int(routes.splitlines()[-1].removeprefix("# "))
    code, text = bench.check(routes)
    assert (code, text.split(";")[0]) == (0, f"accepted: maximum load {bench.value}")
    assert "; 1 virtual channel;" in text


# --- routelab's own verdict --------------------------------------------------------------------


def random_entry(draw: random.Random) -> tuple[list[str], list[list[str]], str, int]:
    """Return network, rows, form and virtual channels of routes that may have a cycle."""
    graph = nx.gnm_random_graph(draw.randint(4, 6), draw.randint(5, 8), seed=draw.randint(0, 9999))
    if not nx.is_connected(graph):
        return random_entry(draw)
    form, vcs = draw.choice(["source,target,switches", "switch,target,next"]), draw.randint(1, 2)
    rows = []
    for target in graph:
        # shortest routes, or those of a tree, which have no cycle
        tree = graph if draw.random() < 0.5 else nx.bfs_tree(graph, 0).to_undirected()
        paths = nx.single_source_shortest_path(tree, target)
        vc = draw.randrange(vcs)
        for source in sorted(paths):
            hops = [f"s{n}@{vc}" if vc else f"s{n}" for n in paths[source][-2::-1]]
            if hops:
                rows.append([f"s{source}", f"s{target}", *(hops if form[1] == "o" else hops[:1])])
    return [f"s{a},s{b}" for a, b in nx.DiGraph(graph).edges], rows, form, vcs


def drop_a_row(rows: list[list[str]], row: int, draw: random.Random) -> None:
    del rows[row]


def repeat_a_row(rows: list[list[str]], row: int, draw: random.Random) -> None:
    rows.append(rows[row])


def raise_a_channel(rows: list[list[str]], row: int, draw: random.Random) -> None:
    rows[row] = [*rows[row][:-1], rows[row][-1].split("@")[0] + "@2"]


def change_a_hop(rows: list[list[str]], row: int, draw: random.Random) -> None:
    rows[row] = [*rows[row][:-1], f"s{draw.randrange(7)}"]


def exchange_targets(rows: list[list[str]], row: int, draw: random.Random) -> None:
    source, _, *hops = rows[row]
    rows[row] = [source, draw.choice([target for _, target, *_ in rows if target != source]), *hops]


def detour(rows: list[list[str]], row: int, draw: random.Random) -> None:
    """Go there, back and there again, which makes a cycle of two channels."""
    source, target, *hops = rows[row]
    rows[row] = [source, target, hops[0], source, *hops]


def change_nothing(rows: list[list[str]], row: int, draw: random.Random) -> None:
    pass


FAULTS = [
    drop_a_row,
    repeat_a_row,
    raise_a_channel,
    change_a_hop,
    exchange_targets,
    detour,
    change_nothing,
    change_nothing,
]


def expected_codes(proof: Proof | None, virtual_channels: int) -> set[int]:
    """Return the exit codes that agree with routelab's verdict."""
    if proof is None:
        return {2, 6, 7}
    if proof.status == "broken":
        return {7} if "virtual channel" in proof.reason else {6}
    # check.py refuses what is outside the instance before it looks for cycles
    if proof.facts["pairs_without_route"]:
        return {7}
    routes = proof.facts.get("routes")
    if routes is not None and routes != proof.facts["pairs"]:
        return {6, 7}
    return {5} if proof.status == "cycle" else {0}


def as_list(rows: list[list[str]]) -> Iterator[str]:
    """Yield a list of the routes of next hops."""
    following = {(switch, target): hop for switch, target, hop in rows}
    for switch, target in following:
        at, hops = switch, []
        while at != target:
            hops.append(following[at, target])
            at = hops[-1].split("@")[0]
        yield ",".join([switch, target, *hops])


def test_200_mutants_get_the_verdict_and_load_of_routelab(benchmark_of, tmp_path):
    draw, bench = random.Random(20261128), benchmark_of()
    counts: dict[int, int] = dict.fromkeys((0, 2, 5, 6, 7), 0)
    forms = set()
    for number in range(200):
        network, rows, form, vcs = random_entry(draw)
        fault = FAULTS[number % len(FAULTS)]
        if fault is detour and form == "switch,target,next":
            fault = change_a_hop
        fault(rows, draw.randrange(len(rows)), draw)
        text = "\n".join([form, *map(",".join, rows), ""])
        bench.network, bench.rules = network, {"virtual_channels": vcs, "per": "pair"}
        bench.value = 0
        code, said = bench.check(text)
        if "claims the value 0" in said:
            load = Fraction(said.split()[-1])
            bench.value = str(load)
            code, said = bench.check(text)
        (tmp_path / "routes.csv").write_text(text)
        own = routelab.topology(f"graph~file={bench.instance / 'network.csv'},directed=true")
        try:
            proof = prove_routes(tmp_path / "routes.csv", own, vcs)
        except InputError:
            proof = None
        # routelab lets routes change their virtual channel
        changes = "change" in said and "virtual channel" in said
        assert changes or code in expected_codes(proof, vcs), (fault, text, said, proof)
        if code == 0:
            if form == "switch,target,next":
                listed = ["source,target,switches", *as_list(rows), ""]
                (tmp_path / "routes.csv").write_text("\n".join(listed))
                proof = prove_routes(tmp_path / "routes.csv", own, vcs)
            assert proof is not None
            assert math.isclose(proof.facts["max_load"], load)
        counts[code] += 1
        forms.add((form, code))
    assert min(counts[code] for code in (0, 5, 6, 7)) >= 10, counts
    assert {(form, 0) for form in ("source,target,switches", "switch,target,next")} <= forms


# --- garbage -----------------------------------------------------------------------------------

DEEP = b"[" * 100_000
JSON_GARBAGE = [b"", DEEP, b'{"a":' * 100_000, b"NaN", b'{"format": NaN}', b"\xff\xfe{", b"{", b"3"]
CSV_GARBAGE = [
    b"",
    b"\xff\xff\xff",
    b"A",
    b"source,target,switches\nA\n",
    b"source,target,weight\nA",
    DEEP,
]


@pytest.mark.parametrize("file", ["entry/about.json", "v1/small/instance.json", "any.json"])
def test_garbage_in_json_is_one_line(benchmark_of, file):
    bench = benchmark_of()
    certificate = ["--certificate", str(bench.folder / file)] if file == "any.json" else None
    for content in JSON_GARBAGE:
        (bench.folder / file).write_bytes(content)
        assert bench.run(*(certificate or ["small", str(bench.entry)]))[0] == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [('{"a": NaN}', "NaN"), ('{"a": [-Infinity]}', "-Inf"), ('{"a": 1, "a": 1}', "twice")],
)
def test_values_that_json_does_not_have_are_refused(benchmark_of, content, sentence):
    bench = benchmark_of()
    proof = bench.folder / "proof.json"
    proof.write_text(content)
    (bench.entry / "about.json").write_text(content)
    for arguments in (["--certificate", str(proof)], ["small", str(bench.entry)]):
        code, text = bench.run(*arguments)
        assert code == 2
        assert sentence in text


@pytest.mark.parametrize(
    "file", ["entry/routes.csv.gz", "v1/small/bound.csv.gz", "v1/index.csv", "v1/small/network.csv"]
)
def test_garbage_in_csv_is_one_line(benchmark_of, file):
    bench = benchmark_of()
    path = bench.folder / file
    good = path.read_bytes()
    damaged = [good[: len(good) // 2], good[:-1], b"", b"garbage", DEEP, good + b"x"]
    if path.suffix == ".gz":
        damaged += map(gzip.compress, CSV_GARBAGE)
    else:
        damaged = [*damaged[2:5], *CSV_GARBAGE]
    for content in damaged:
        path.write_bytes(content)
        assert bench.run("small", str(bench.entry))[0] == 2, content[:60]
    path.unlink()
    path.mkdir()
    assert bench.run("small", str(bench.entry))[0] == 2


@pytest.mark.parametrize("seed", range(30))
def test_damaged_bytes_are_one_line(benchmark_of, seed):
    draw, bench = random.Random(seed), benchmark_of(bound=BOUND)
    for file in (
        "entry/routes.csv.gz",
        "v1/small/bound.csv.gz",
        "entry/about.json",
        "v1/index.csv",
    ):
        bench.write()
        path = bench.folder / file
        content = bytearray(path.read_bytes())
        for _ in range(draw.randint(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        code, text = bench.run("small", str(bench.entry))
        # of a gzip file, bytes of the header mean nothing
        assert code in (0, 2, 4, 5, 6, 7), text
        if file == "entry/routes.csv.gz":
            assert code in (0, 2), text
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        assert bench.run("small", str(bench.entry))[0] in (2, 4, 7, 0)


BOUND = "\n".join(["source,target,weight", *(f"{ends},1" for ends in RING), ""])


def test_a_gzip_bomb_is_refused(benchmark_of):
    bench = benchmark_of()
    line = b"#" * 1_000_000 + b"\n"
    with gzip.open(bench.entry / "routes.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(201):
            file.write(line)
    code, text = bench.run("small", str(bench.entry))
    assert (code, text) == (2, "cannot accept: routes.csv.gz contains more than 200,000,000 bytes")


def test_a_large_file_is_refused(benchmark_of):
    bench = benchmark_of()
    content = random.Random(1).randbytes(5_000_000)
    (bench.entry / "routes.csv.gz").write_bytes(gzip.compress(content, compresslevel=1))
    code, text = bench.run("small", str(bench.entry))
    assert (code, text) == (2, "cannot accept: routes.csv.gz has more than 5,000,000 bytes")


def test_damaged_rules_of_an_instance_are_refused(benchmark_of):
    bench = benchmark_of()
    for name, value in (
        ("terminals", "1"),
        ("terminals", {"Z": 1}),
        ("terminals", {"A": True}),
        ("terminals", -1),
        ("virtual_channels", 0),
        ("virtual_channels", True),
        ("per", "route"),
        ("per", None),
        ("table", "all"),
        ("max_hops", 0),
        ("max_hops", 1.5),
        ("whole_loads", 1),
        ("name", "large"),
        ("format", "routing-instance/2"),
        ("more", 1),
    ):
        bench.rules = {name: value}
        assert bench.check()[0] == 2, (name, value)
    bench.rules = {}
    for line in ("A,A", "A,B", "A,", "A", "A,B,C,D", "#A,B,C", "A@1,B", 'A,"B', "A,C,0", "A,C,-1"):
        bench.network = [*RING, line]
        code = bench.check()[0]
        assert code == 2 or line.startswith("#"), line


# --- the program -------------------------------------------------------------------------------


def test_check_py_imports_only_the_standard_library():
    modules = set()
    for node in ast.walk(ast.parse(PROGRAM.read_text(), feature_version=(3, 10))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules.add(node.module)
    assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names
    assert "__import__" not in PROGRAM.read_text()


def test_check_py_has_at_most_400_lines():
    assert len(PROGRAM.read_text().splitlines()) <= 400

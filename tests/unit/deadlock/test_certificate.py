"""Certificates: an independent program accepts the good ones and refuses every mutation."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deadlock_cases import clockwise_ring_table, random_table, ring, table_of, torus_table
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError, RouteTable, Topology
from routelab.deadlock import (
    certificate,
    check_table,
    network_digest,
    routes_digest,
    write_certificate,
)

PROGRAM = Path(__file__).parents[3] / "instances" / "check.py"
Content = dict[str, Any]


def recheck(path: Path) -> subprocess.CompletedProcess[str]:
    """Run the stand-alone program as its readers do, without routelab on the path."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), "--certificate", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


def proof_of(table: RouteTable, flow_control: str) -> Content:
    return certificate(check_table(table, flow_control), table)


def dateline_table() -> RouteTable:
    """A ring with two virtual channels, and two paths for one pair."""

    def paths(s: int, t: int) -> list[list[tuple[int, int]]]:
        hops = [(s + i) % 4 for i in range((t - s) % 4)]
        ways = [[(hop, int(3 in hops[: i + 1])) for i, hop in enumerate(hops)]]
        return [*ways, [(0, 1), (1, 1)]] if (s, t) == (0, 2) else ways

    return table_of(ring(4), paths)


def terminals_table() -> RouteTable:
    """Two switches joined twice; the terminals of one are reached over a channel each."""
    topology = Topology.create(
        num_switches=2,
        channel_source=[0, 0, 1],
        channel_target=[1, 1, 0],
        terminal_switch=[1, 0, 1],
    )
    return RouteTable.from_next_hops(topology, [[0, -1, 1], [-1, 2, -1]], per_terminal=True)


GOOD = {
    "to terminals, plain": (terminals_table(), "plain"),
    "torus, bubble": (torus_table(4, 4), "bubble"),
    "dateline, plain": (dateline_table(), "plain"),
    "no routes": (table_of(ring(3), lambda s, t: []), "plain"),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_certificates_are_accepted(name: str, tmp_path: Path) -> None:
    table, flow_control = GOOD[name]
    path = tmp_path / "certificate.json"
    write_certificate(check_table(table, flow_control), table, path, {"host": "here"})
    answer = recheck(path)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("proven: ")
    assert json.loads(path.read_text())["provenance"] == {"host": "here"}
    assert [file.name for file in tmp_path.iterdir()] == ["certificate.json"]


def test_routes_to_terminals_name_their_ends(tmp_path: Path) -> None:
    table = terminals_table()
    proof = proof_of(table, "plain")
    assert proof["endpoints"] == ["0", "1"]
    assert proof["destinations"] == ["1", "0", "1"]
    assert proof["routes"] == ["0", "", "1", "", "2", ""]
    path = tmp_path / "certificate.json"
    write_certificate(check_table(table), table, path)
    said = "3 of 3 pairs of switches and terminals routed"
    assert said in recheck(path).stdout
    # the same arrays lead elsewhere if the first two terminals change places
    path.write_text(json.dumps(proof | {"destinations": ["0", "1", "1"]}), encoding="utf-8")
    assert "route 0 misses its target" in recheck(path).stderr
    assert "destinations" not in proof_of(dateline_table(), "plain")


def test_routes_are_one_text_a_pair() -> None:
    routes = proof_of(dateline_table(), "plain")["routes"]
    assert routes[0 * 4 + 0] == ""
    assert routes[0 * 4 + 2] == "0 1;0:1 1:1"
    assert routes[2 * 4 + 1] == "2 3:1 0:1"
    assert set(proof_of(*GOOD["no routes"])["routes"]) == {"", None}


def lower_a_rank(content: Content) -> None:
    first, second = next(
        (i, j)
        for i, j in content["dependencies"]
        if content["resources"][i][2] < content["resources"][j][2]
    )
    content["resources"][second][2] = content["resources"][first][2]


def raise_a_ring_channel(content: Content) -> None:
    channel = content["rings"][0]["channels"][0]
    next(entry for entry in content["resources"] if entry[0] == channel)[2] += 10


def remove_a_ring_channel(content: Content) -> None:
    content["rings"][0]["channels"].pop()


def remove_a_ring(content: Content) -> None:
    content["rings"].pop()


def join_two_crossing_rings(content: Content) -> None:
    content["rings"][0]["channels"] += content["rings"].pop(1)["channels"]


def join_two_parallel_rings(content: Content) -> None:
    first, *others = content["rings"]
    parallel = next(o for o in others if o["channels"][0] % 4 == first["channels"][0] % 4)
    content["rings"].remove(parallel)
    first["channels"] += parallel["channels"]


def list_a_ring_twice(content: Content) -> None:
    content["rings"].append(content["rings"][0])


def remove_a_dependency(content: Content) -> None:
    content["dependencies"].pop(5)


def remove_a_resource(content: Content) -> None:
    content["resources"].pop()


def reroute_a_pair(content: Content) -> None:
    """From switch 0 to 5 by +Y and +X, which needs a dependency that is not listed."""
    assert content["routes"][5] == "0 5"
    content["routes"][5] = "1 16"


def tear_a_route(content: Content) -> None:
    content["routes"][5] = "0 9"


def shorten_a_route(content: Content) -> None:
    content["routes"][5] = "0"


def drop_the_routes_of_a_pair(content: Content) -> None:
    content["routes"].pop()


def claim_plain_flow_control(content: Content) -> None:
    content["flow_control"] = "plain"


def move_a_channel(content: Content) -> None:
    content["channels"][0][2] = content["channels"][0][1]


MUTATIONS: list[tuple[Callable[[Content], None], str]] = [
    (lower_a_rank, "does not increase"),
    (raise_a_ring_channel, "does not increase"),
    (remove_a_ring_channel, "is broken"),
    (remove_a_ring, "does not increase"),
    (join_two_crossing_rings, "visits a switch twice"),
    (join_two_parallel_rings, "is broken"),
    (list_a_ring_twice, "is in two rings"),
    (remove_a_dependency, "do not match the routes"),
    (remove_a_resource, "without a rank"),
    (reroute_a_pair, "do not match the routes"),
    (tear_a_route, "is not connected"),
    (shorten_a_route, "misses its target"),
    (drop_the_routes_of_a_pair, "every pair"),
    (claim_plain_flow_control, "need bubble"),
    (move_a_channel, "is broken"),
]


@pytest.mark.parametrize(
    ("mutate", "complaint"), MUTATIONS, ids=[mutate.__name__ for mutate, _ in MUTATIONS]
)
def test_mutated_certificates_are_refused(
    mutate: Callable[[Content], None], complaint: str, tmp_path: Path
) -> None:
    content = copy.deepcopy(proof_of(torus_table(4, 4), "bubble"))
    mutate(content)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(content))
    answer = recheck(path)
    assert answer.returncode == 4
    assert answer.stderr.startswith("unproven: ")
    assert complaint in answer.stderr


@given(st.integers(0, 2**32 - 1), st.sampled_from(["plain", "bubble"]))
@settings(max_examples=60)
def test_every_proof_rechecks(seed: int, flow_control: str) -> None:
    table = random_table(seed)
    verdict = check_table(table, flow_control)
    if not verdict.proven:
        with pytest.raises(InputError, match="cycle"):
            certificate(verdict, table)
        return
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "certificate.json"
        write_certificate(verdict, table, path)
        patch.setattr(sys, "argv", [str(PROGRAM), "--certificate", str(path)])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(PROGRAM), run_name="__main__")
    assert end.value.code == 0


def test_digests_of_different_tables_and_networks_differ() -> None:
    first, second = torus_table(4, 4), torus_table(4, 4, {(0, 5): "YX"})
    assert network_digest(first.topology) == network_digest(second.topology)
    assert routes_digest(first) == routes_digest(torus_table(4, 4))
    assert routes_digest(first) != routes_digest(second)
    small = clockwise_ring_table(ring(4), hops=2)
    assert network_digest(small.topology) != network_digest(ring(5))
    moved = small.with_vcs([1] * len(small.hop_vc))
    assert routes_digest(small) != routes_digest(moved)


def judge(content: object, path: Path) -> tuple[int, str]:
    """Run the program in this process on a file; return exit code and message."""
    path.write_text(json.dumps(content))
    return judge_file(path)


def judge_file(path: Path) -> tuple[int, str]:
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(said):
        patch.setattr(sys, "argv", [str(PROGRAM), "--certificate", str(path)])
        with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as end:
            runpy.run_path(str(PROGRAM), run_name="__main__")
    assert isinstance(end.value.code, int)
    return end.value.code, said.getvalue()


@pytest.mark.parametrize("version", ["deadlock-certificate/1", "deadlock-certificate/99", "x", 2])
def test_unknown_versions_are_refused(version: object, tmp_path: Path) -> None:
    content = proof_of(torus_table(4, 4), "bubble") | {"format": version}
    code, said = judge(content, tmp_path / "certificate.json")
    assert (code, said.count("\n")) == (2, 1)
    assert "this program reads 'deadlock-certificate/2'" in said


@pytest.mark.parametrize("what", ["topology", "routes"])
def test_wrong_digests_are_refused(what: str, tmp_path: Path) -> None:
    content = copy.deepcopy(proof_of(torus_table(4, 4), "bubble"))
    content["digests"][what] = "0" * 64
    code, said = judge(content, tmp_path / "certificate.json")
    assert (code, said[:10]) == (4, "unproven: ")


def test_another_order_of_the_switches_is_another_network(tmp_path: Path) -> None:
    content = copy.deepcopy(proof_of(dateline_table(), "plain"))
    content["switches"].reverse()
    assert judge(content, tmp_path / "certificate.json")[0] == 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "NaN",
        "{",
        "[" * 100_000,
        '{"format": "deadlock-certificate/2", "format": "deadlock-certificate/2"}',
        '{"format": ' + "9" * 5000 + "}",
        "\udcff",
    ],
)
def test_invalid_certificates_are_rejected_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    code, said = judge_file(path)
    assert (code, said.count("\n")) == (2, 1)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert judge_file(tmp_path / "pipe")[0] == 2


NESTED: list[Any] = [[]]
for _ in range(50):
    NESTED = [NESTED]
STRANGE = [None, True, -1, 2**70, 1.5, "", "x", "0:", "0 ", [], {}, NESTED, float("nan")]


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places of all parts of a JSON value; of long lists, of the first and last."""
    parts = [place] if place else []
    if isinstance(value, dict):
        for key in value:
            parts += places(value[key], (*place, key))
    elif isinstance(value, list):
        for number in sorted({*range(min(len(value), 3)), len(value) - 1} - {-1}):
            parts += places(value[number], (*place, number))
    return parts


def meaning(content: Content) -> Content:
    """Return the proof in a certificate, without names of channels and unused switches."""
    left_out = ("preconditions", "provenance", "switches")
    proof = {key: value for key, value in content.items() if key not in left_out}
    return proof | {"channels": [channel[1:] for channel in content["channels"]]}


@given(st.data(), st.sampled_from(["to terminals, plain", "torus, bubble", "dateline, plain"]))
@settings(max_examples=300, deadline=None)
def test_no_mutation_is_accepted_or_crashes(data: st.DataObject, name: str) -> None:
    good = proof_of(*GOOD[name])
    content = copy.deepcopy(good)
    *way, last = data.draw(st.sampled_from(places(content)))
    parent: Any = content
    for step in way:
        parent = parent[step]
    match data.draw(st.sampled_from(["replace", "remove", "repeat", "add"])):
        case "replace":
            parent[last] = data.draw(st.sampled_from(STRANGE))
        case "remove":
            del parent[last]
        case "repeat" if isinstance(parent, list):
            parent.insert(last, copy.deepcopy(parent[last]))
        case _ if isinstance(parent, dict):
            parent["more"] = data.draw(st.sampled_from(STRANGE))
        case _:
            parent.append(data.draw(st.sampled_from(STRANGE)))
    with tempfile.TemporaryDirectory() as folder:
        code, said = judge(content, Path(folder) / "certificate.json")
    if code == 0:
        assert meaning(content) == meaning(good)
    else:
        assert code in (4, 2)
        assert said.count("\n") == 1

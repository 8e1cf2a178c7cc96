"""Rules of a certificate: all that follows its order is legal, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.deadlock import certificate, check_table
from routelab.kernels.graph import route_lengths
from routelab.kernels.legality import first_illegal_path
from routelab.metrics import channel_loads
from routelab.metrics.bounds import lower_bound_rules
from routelab.toolkit import build_grid
from routelab_plugins.routing.words import Words as WordsRouting
from routelab_plugins.rules.words import Words

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def examples():
    """Tables, each with its certificate, by virtual channels and what keeps one."""
    network = build_grid("torus", (4, 3), wrap=True)
    tables = {}
    for vcs, per in ((1, "pair"), (2, "pair"), (2, "hop")):
        table = WordsRouting(vcs=vcs, per=per, rounds=40, legal_rounds=20).route(network)
        tables[vcs, per] = table, certificate(check_table(table), table)
    return tables


def rules_of(content, folder, per="hop"):
    path = folder / "certificate.json"
    path.write_text(json.dumps(content))
    return Words(file=path, per=per)


def first_illegal(graph, table):
    starts, endpoints = (table.pair_start, table.path_start), table.topology.endpoints
    return first_illegal_path(
        graph.arrays, *starts, table.hop_channel, endpoints, table.num_destinations
    )


@pytest.mark.parametrize("case", [(1, "pair"), (2, "pair"), (2, "hop")])
def test_all_routes_of_the_table_are_legal_and_their_bound_is_not_above_the_load(
    examples, case, tmp_path
):
    table, content = examples[case]
    graph = rules_of(content, tmp_path, case[1]).routing_graph(table.topology)
    assert first_illegal(graph, table) == -1
    lengths = route_lengths(graph.arrays, table.topology.endpoints).reshape(-1)
    shortest = np.array_equal(table.path_length, lengths[table.path_pair])
    if shortest:
        assert lower_bound_rules(graph).load <= channel_loads(table).max()
    if case[1] == "hop":
        rerouted = table.with_vcs(graph.virtual_channels(table))
        assert check_table(rerouted).status == "proven"
        assert rerouted.virtual_channels <= 2


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_shortest_legal_routes_are_shortest_subsequences(data, examples, tmp_path_factory):
    case = data.draw(st.sampled_from(sorted(examples)))
    table, content = examples[case]
    content = dict(content)
    kept = data.draw(st.sets(st.integers(0, len(content["resources"]) - 1), min_size=1))
    content["resources"] = [content["resources"][i] for i in sorted(kept)]
    network = table.topology
    rules = rules_of(content, tmp_path_factory.mktemp("word"), case[1])
    graph = rules.routing_graph(network)
    lengths = route_lengths(graph.arrays, network.endpoints)
    ends = list(zip(network.channel_source.tolist(), network.channel_target.tolist(), strict=True))
    # every order of hops that rises in rank, on one virtual channel or on all
    walks = nx.DiGraph()
    for i, (c, vc, rank) in enumerate(content["resources"]):
        walks.add_edge(("from", ends[c][0]), i)
        walks.add_edge(i, ("to", ends[c][1]))
        for j, (d, other, later) in enumerate(content["resources"]):
            if ends[c][1] == ends[d][0] and rank < later and (case[1] == "hop" or vc == other):
                walks.add_edge(i, j)
    for s in range(network.num_switches):
        start = ("from", s)
        hops = nx.single_source_shortest_path_length(walks, start) if start in walks else {}
        expected = [
            0 if s == t else hops.get(("to", t), 0) - 1 for t in range(network.num_switches)
        ]
        assert lengths[s].tolist() == expected


def test_two_exchanged_ranks_forbid_a_route_that_uses_both(examples, tmp_path):
    table, content = examples[1, "pair"]
    rank = {channel: place for channel, _, place in content["resources"]}
    path = int(np.argmax(table.path_length))
    hops = table.hop_channel[table.path_start[path] : table.path_start[path + 1]].tolist()
    first, second = next(pairwise(hops))
    rank[first], rank[second] = rank[second], rank[first]
    changed = {**content, "resources": [[channel, 0, place] for channel, place in rank.items()]}
    graph = rules_of(changed, tmp_path, "pair").routing_graph(table.topology)
    assert first_illegal(graph, table) >= 0


def test_the_stand_alone_program_checks_the_word_and_refuses_exchanged_ranks(examples, tmp_path):
    _, content = examples[2, "hop"]
    path = tmp_path / "certificate.json"

    def code(changed):
        path.write_text(json.dumps(changed))
        program = [sys.executable, str(ROOT / "instances/check.py"), "--certificate", str(path)]
        return subprocess.run(program, check=False, capture_output=True).returncode

    assert code(content) == 0
    a, b = content["dependencies"][0]
    resources = [list(resource) for resource in content["resources"]]
    resources[a][2], resources[b][2] = resources[b][2], resources[a][2]
    assert code({**content, "resources": resources}) == 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flow_control": "bubble"}, "bubble flow control"),
        ({"resources": [[0, 0]]}, "no channels and ranks"),
        ({"resources": [[999, 0, 1]]}, "cannot exist"),
        ({"resources": [[0, -1, 1]]}, "cannot exist"),
    ],
)
def test_files_that_are_no_word_of_this_network_are_refused(examples, tmp_path, change, said):
    table, content = examples[1, "pair"]
    rules = rules_of({**content, **change}, tmp_path)
    with pytest.raises(InputError, match=said):
        rules.routing_graph(table.topology)


def test_a_certificate_of_another_network_does_not_apply(examples, tmp_path):
    table, content = examples[1, "pair"]
    assert rules_of(content, tmp_path).supports(table.topology) is None
    other = build_grid("torus", (3, 4), wrap=True)
    assert "another network" in rules_of(content, tmp_path).supports(other)


def test_a_text_is_refused(examples, tmp_path):
    path = tmp_path / "word"
    for text in ("up down up", "[" * 100_000, ""):
        path.write_text(text)
        with pytest.raises(InputError, match="is not a certificate"):
            Words(file=path).routing_graph(examples[1, "pair"][0].topology)

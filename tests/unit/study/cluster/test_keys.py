"""Descriptions of clusters: what they say of the machine, and what is wrong with them."""

from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.registry.instances import canonical_with_parameters, load
from routelab.study import choices, load_study
from routelab.study.cluster.hostlist import expand
from routelab.study.cluster.keys import load_cluster, require_cluster
from routelab.toolkit.machine import Machine

ROOT = Path(__file__).parents[4]


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = Path("some.yaml")
        path.write_text(text)
        return path

    return write


def mistakes(path):
    with pytest.raises(InputError) as raised:
        load_cluster(path)
    return str(raised.value).splitlines()


def test_a_machine_has_the_values_of_the_file_and_defaults(write):
    loaded = load_cluster(
        write(
            """\
name: Some
topology: torus~dims=4x2
ranks_per_node: 4
machine:
  link_bandwidth: {value: 2.0e9, source: its data sheet}
  latency: {value: 1.0e-6, assumed: as others have, range: [5.0e-7, 2.0e-6]}
  handshake: false
  compute_rate: 3000000
"""
        )
    )
    expected = Machine(link_bandwidth=2e9, latency=1e-6, handshake=False, compute_rate=3e6)
    assert loaded.machine == expected
    assert loaded.cluster.ranks_per_node == 4
    assert loaded.origins["link_bandwidth"].source == "its data sheet"
    assert loaded.origins["latency"].range == (5e-7, 2e-6)
    assert set(loaded.origins) == {"link_bandwidth", "latency", "handshake", "compute_rate"}


def test_all_mistakes_are_reported_together_with_their_lines(write):
    path = write(
        """\
nodez: 3
machine:
  latency: {value: 3, assumed: why, range: [4, 5]}
  overhead: {value: fast, source: y}
  hop_latency: true
  handshake: 1
  compute_rate: {value: 1e9}
nodes: 0
"""
    )
    assert [line.partition(": ")[2] for line in mistakes(path)] == [
        "nodez: unknown key; did you mean 'nodes'?",
        "machine.latency: 3 is outside its range, 4 to 5",
        "machine.overhead.value: 'fast' should be a number, or true or false",
        "machine.hop_latency: true should be a number",
        "machine.handshake: 1 should be true or false",
        "machine.compute_rate: 'source' is missing",
        "nodes: 0 should be greater than or equal to 1",
    ]


def test_a_cluster_is_found_by_name_or_path(write, tmp_path):
    path = write("name: x\n")
    assert require_cluster(str(path)) == path
    assert require_cluster("some", (Path("none"), tmp_path)) == tmp_path / "some.yaml"
    with pytest.raises(InputError, match=r"no cluster 'sone', .*; did you mean 'some'\?"):
        require_cluster("sone", (tmp_path,))
    with pytest.raises(InputError, match=r"other.yaml not found"):
        require_cluster("other.yaml")


def test_desmos_sends_a_small_message_to_its_neighbour_in_the_published_time():
    loaded = load_cluster(ROOT / "config/clusters/desmos.yaml")
    machine = loaded.machine
    assert machine.latency + machine.hop_latency + 2 * machine.overhead == pytest.approx(850e-9)
    assert (loaded.cluster.nodes, loaded.cluster.ranks_per_node) == (32, 4)
    # whatever is not published says so, and in which range it is plausible
    assumed = {name for name, origin in loaded.origins.items() if origin.assumed and origin.range}
    assert assumed == set(Machine.model_fields) - {"handshake"}


@pytest.mark.parametrize("name", ["desmos", "local", "virtual-desmos"])
def test_the_clusters_that_we_ship_are_right(name):
    path = ROOT / f"config/clusters/{name}.yaml"
    cluster = load_cluster(path).cluster
    whole = load("topology", cluster.topology).build()
    assert cluster.nodes == whole.num_terminals
    for text, hosts in cluster.node_sets.items():
        part = load("topology", text).build()
        assert cluster.hosts_of(text, part.num_terminals) == expand(hosts)
    if cluster.hosts:
        assert len(cluster.hosts_of(cluster.topology, whole.num_terminals)) == cluster.nodes


def test_desmos_has_the_node_sets_of_the_paper():
    cluster = load_cluster(ROOT / "config/clusters/desmos.yaml").cluster
    study = load_study(ROOT / "config/studies/angara-table2.yaml")
    networks = [
        canonical_with_parameters("topology", choice.name, choice.values or {})
        for entry in study.topologies
        for choice in choices(entry)
    ]
    assert [*cluster.node_sets, cluster.topology] == networks

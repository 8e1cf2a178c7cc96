"""What cluster files say of jobs: every mistake in words, hosts in order, programs found."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.study.cluster.keys import Cluster, load_cluster
from routelab.toolkit.machine import Machine


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def read(text):
        path = Path("some.yaml")
        path.write_text(text)
        return load_cluster(path).cluster

    return read


def mistakes(call, *arguments):
    with pytest.raises(InputError) as raised:
        call(*arguments)
    return str(raised.value).splitlines()


def test_every_key_is_checked(read):
    text = """\
topology: torus~dims
ranks_per_node: 5000
launcher: slurm
mpi: -x
options: --foo
partition: "a b"
allocation: ["", 3, "a\\nb"]
environment: {1A: x, B: true, C: 1.5, D: 3, E: "a\\0b"}
hosts: [n1, "n;1", "n[1-"]
node_sets:
  torus~dims=4x2: n[1-2
  mesh~: [n1]
  torus~dims=2: n[1,1-2]
benchmarks: {npb: bin/lu, "a b": x, osu-alltoall: -x}
fabric: {apply: [x], use: sites-own}
program: ./mpiexec
"""
    keys = [
        *("1: topology", "2: ranks_per_node", "3: launcher", "4: mpi", "5: options"),
        *("6: partition", "7: allocation[0]", "7: allocation[1]", "7: allocation[2]"),
        *("8: environment.1A", "8: environment.B", "8: environment.C", "8: environment.E"),
        *("9: hosts[1]", "9: hosts[2]", "11: node_sets.torus~dims=4x2", "12: node_sets.mesh~"),
        *("13: node_sets.torus~dims=2", "14: benchmarks.npb", "14: benchmarks.a b"),
        *("14: benchmarks.osu-alltoall", "15: fabric.use", "15: fabric", "16: program"),
    ]
    lines = mistakes(read, text)
    assert all(line.startswith(f"some.yaml:{key}: ") for line, key in zip(lines, keys, strict=True))


def test_contradictory_keys_are_rejected(read):
    text = """\
nodes: 3
mpi: pmi2
hosts:
  n1: [0, 0]
  n2: [1]
node_sets:
  torus~dims=2: n[1,7-9]
"""
    assert mistakes(read, text) == [
        "some.yaml:1: nodes: 3, but 2 hosts are listed; list all, or leave out 'nodes'",
        "some.yaml:2: mpi: applies to srun only, but the launcher is mpiexec; leave it out",
        "some.yaml:3: hosts: have coordinates; name their network in 'topology'",
        "some.yaml:5: hosts.n2: [1] has 1 coordinates, n1 2",
        "some.yaml:7: node_sets.torus~dims=2: n[7-9] not in hosts; add it there, or fix it",
    ]


def test_keys_with_nothing_behind_them_are_as_if_they_were_not_there(read):
    text = "options:\nallocation:\nenvironment:\nhosts:\nnode_sets:\nbenchmarks:\nmachine:\n"
    assert read(text) == read("name:\n")


def test_a_home_folder_is_put_in(read, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    cluster = read("program: ~/mpi/mpiexec\nbenchmarks: {npb: ~/npb, osu-alltoall: osu}\n")
    assert cluster.program == "/home/me/mpi/mpiexec"
    assert cluster.benchmarks == {"npb": "/home/me/npb", "osu-alltoall": "osu"}


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["n1", "n[1-3]", "n[1", "torus~dims=2", "torus~dims", "srun", "~/x", ""])
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["n1", "use", "value", "assumed", "range", "source", "torus~dims=2"])
            | st.sampled_from(sorted(Machine.model_fields)),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(sorted(Cluster.model_fields)), VALUES, max_size=5))
def test_any_file_is_read_or_rejected_with_its_line(tmp_path, data):
    path = tmp_path / "some.yaml"
    path.write_text(json.dumps(data))
    try:
        load_cluster(path)
    except InputError as error:
        for line in str(error).splitlines():
            assert line.startswith(f"{path}:1: ")


def test_hosts_may_not_stand_twice_in_any_form(read):
    for hosts in ("[n1, n2, 'n[1-2]']", "n1,n2,n[1-2]"):
        assert (
            mistakes(read, f"hosts: {hosts!s}\n" if hosts[0] == "[" else f"hosts: '{hosts}'\n")[0]
            == "some.yaml:1: hosts: n[1-2] more than once"
        )


def test_whole_numbers_of_the_environment_are_their_digits(read):
    environment = read("environment: {OMP_NUM_THREADS: 4, A: '1.50', B: ''}\n").environment
    assert environment == {"OMP_NUM_THREADS": "4", "A": "1.50", "B": ""}


SETS = """\
topology: torus~dims=4x2
hosts: n[1-8]
node_sets:
  torus~dims=[4]: n[1,3,5,7]
  torus~dims=2: [n2, n1]
"""


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ("n01.a,n01.b", "n01.a and n01.b count as one host"),
        ("n[01-02],n02.cl.example", "n02 and n02.cl.example count as one host"),
    ],
)
def test_hosts_that_differ_in_their_domain_alone_are_refused(read, hosts, message):
    assert message in mistakes(read, f"hosts: '{hosts}'\n")[0]


def test_node_sets_may_leave_out_the_domain(read):
    text = "hosts: n[01-04].cl.example\nnode_sets: {torus~dims=2: 'n[02,01]'}\n"
    assert read(text).hosts_of("torus~dims=2", 2) == ("n02", "n01")
    text = "hosts: n[01-04].cl.example\nnode_sets: {torus~dims=2: 'n[04-05]'}\n"
    assert "n05 not in hosts" in mistakes(read, text)[0]


def test_hosts_of_a_network_are_those_of_its_node_set_by_any_name(read):
    cluster = read(SETS)
    assert cluster.all_hosts == tuple(f"n{number}" for number in range(1, 9))
    assert cluster.hosts_of("torus~dims=4", 4) == ("n1", "n3", "n5", "n7")
    assert cluster.hosts_of("torus~dims=2", 2) == ("n2", "n1")
    assert cluster.hosts_of("torus~dims=[4x2]", 8) == cluster.all_hosts
    assert read("name: x\n").hosts_of("torus~dims=4", 4) == ()
    assert read("hosts: n[1-4]\n").hosts_of("mesh~dims=2x2", 4) == ("n1", "n2", "n3", "n4")


@pytest.mark.parametrize(
    ("text", "network", "terminals", "said"),
    [
        (SETS, "mesh~dims=4x2", 8, "missing hosts for mesh~dims=4x2, only for torus~dims=4x2"),
        (SETS, "torus~dims=2", 3, "node_sets: torus~dims=2: 2 hosts for a network of 3"),
        ("hosts: n[1-4]\n", "mesh~dims=4x2", 8, "hosts: 4 hosts for a network of 8 terminals"),
    ],
)
def test_a_network_without_hosts_is_refused(read, text, network, terminals, said):
    (line,) = mistakes(read(text).hosts_of, network, terminals)
    assert line.startswith(f"some.yaml: {said}")


def test_coordinates_put_hosts_into_the_order_of_terminals(read):
    placed = "topology: torus~dims=2x2\nhosts: {a: [1, 1], b: [0, 1], c: [0, 0], d: [1, 0]}\n"
    assert read(placed).hosts_of("torus~dims=2x2", 4) == ("c", "b", "d", "a")
    # two hosts at a switch are in the order of the file
    two = "topology: torus~dims=2,terminals=2\nhosts: {a: [1], b: [0], c: [0], d: [1]}\n"
    assert read(two).hosts_of("torus~dims=2,terminals=2", 4) == ("b", "c", "a", "d")


def test_all_coordinates_that_do_not_fit_are_reported(read):
    cluster = read(
        "topology: torus~dims=3x2\nhosts: {a: [0, 0], b: [0, 0], c: [3, 1], d: [2, 1]}\n"
    )
    assert mistakes(cluster.hosts_of, "torus~dims=3x2", 6) == [
        "some.yaml: hosts: b: another host is at [0, 0] already",
        "some.yaml: hosts: c: place [3, 1] is outside the network of 3x2",
        "some.yaml: hosts: no host is at (0, 1), (1, 0), (1, 1) and 1 more places",
    ]
    flat = read("topology: torus~dims=2x2\nhosts: {a: [0], b: [1]}\n")
    assert mistakes(flat.hosts_of, "torus~dims=2x2", 4)[:2] == [
        "some.yaml: hosts: a: [0] should be 2 coordinates",
        "some.yaml: hosts: b: [1] should be 2 coordinates",
    ]


@pytest.fixture
def program(tmp_path):
    def program(name, mode=0o755):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(mode)
        return path

    return program


def test_a_program_is_the_one_that_is_named_or_the_best_in_its_folder(read, program, tmp_path):
    first, second = program("bin/lu.C.x"), program("bin/lu.C.4")
    names = ("lu.C.x", "lu.C.4")
    assert read(f"benchmarks: {{npb: {second}}}\n").executable("npb", names) == second
    assert read(f"benchmarks: {{npb: {tmp_path}/bin}}\n").executable("npb", names) == first
    assert read(f"benchmarks: {{npb: {tmp_path}/bin}}\n").executable("npb", names[1:]) == second
    here = read(f"environment: {{PATH: {tmp_path}/bin}}\n")
    assert here.executable("npb", names) == first
    assert here.executable("npb", (str(second),)) == second
    named = read(f"environment: {{PATH: {tmp_path}/bin}}\nbenchmarks: {{npb: lu.C.4}}\n")
    assert named.executable("npb", names) == second


def test_a_missing_program_is_reported_with_its_fix(read, program, tmp_path):
    locked = program("bin/lu.C.x", 0o644)
    (tmp_path / "empty").mkdir()
    names = ("lu.C.x", "lu.C.4")

    def mistakes_of(text):
        return mistakes(read(f"environment: {{PATH: /none}}\n{text}").executable, "npb", names)

    for text, said in (
        ("", "benchmarks: no lu.C.x or lu.C.4 on PATH"),
        ("benchmarks: {npb: lu}\n", "benchmarks: no lu on PATH"),
        ("benchmarks: {npb: /none/lu}\n", "benchmarks: npb: /none/lu not found"),
        (f"benchmarks: {{npb: {tmp_path}/empty}}\n", "benchmarks: npb: no lu.C.x or lu.C.4 in"),
        (f"benchmarks: {{npb: {tmp_path}/bin}}\n", f"benchmarks: npb: {locked} is not executable"),
    ):
        (line,) = mistakes_of(text)
        assert line.startswith(f"some.yaml: {said}")

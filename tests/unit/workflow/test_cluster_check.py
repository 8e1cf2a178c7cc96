"""What is missing on a cluster, told by commands that print as Slurm's do."""

import sys

import pytest

from routelab.api import InputError
from routelab.workflow.cluster_check import check_cluster

CLUSTER = """\
launcher: srun
mpi: pmi2
partition: virtual
topology: torus~dims=4x2
hosts: n[1-8]
node_sets: {torus~dims=4: "n[1,3,5,7]"}
"""


@pytest.fixture
def checks(here):
    """What the check of a file says, with its state, by what was checked."""

    def checks(text, *arguments):
        path = here / "some.yaml"
        path.write_text(text)
        findings = check_cluster(str(path), *arguments)
        return {check.subject: (check.state, check.finding) for check in findings}

    return checks


def missing(findings):
    return {what: text for what, (state, text) in findings.items() if state == "missing"}


def test_a_cluster_where_everything_is_there(here, slurm, checks):
    slurm()
    assert checks(CLUSTER) == {
        "file": ("ok", str(here / "some.yaml")),
        "hosts of torus~dims=4x2": ("ok", "n[1-8] as torus~dims=4x2"),
        "hosts of torus~dims=4": ("ok", "n[1,3,5,7] as torus~dims=4"),
        "launcher srun": ("ok", f"{here}/bin/srun"),
        "partition virtual": ("ok", "up, 8 nodes"),
        "fabric": ("ok", "none"),
        "benchmark mpi-patterns": ("ok", sys.executable),
    }


def test_a_python_without_mpi4py_is_missing(slurm, program, checks):
    slurm()
    python = program(
        "some-python", "echo \"ModuleNotFoundError: No module named 'mpi4py'\" >&2; exit 1"
    )
    text = CLUSTER + f"benchmarks: {{mpi-patterns: {python}}}\n"
    assert missing(checks(text)) == {
        "benchmark mpi-patterns": f"{python}: ModuleNotFoundError: No module named 'mpi4py'"
    }


def test_programs_and_the_folder_of_a_fabric_are_looked_up(slurm, program, checks, here):
    slurm()
    program("sudo", "")
    fabric = "fabric: {{apply: [sudo, -n, load-routes], restore: [restore-routes], state: {}}}\n"
    text = CLUSTER + fabric.format(here / "lock")
    assert missing(checks(text)) == {
        "fabric: apply": "program load-routes is not found or not executable",
        "fabric: restore": "program restore-routes is not found or not executable",
    }
    program("load-routes", "")
    program("restore-routes", "")
    assert missing(checks(text)) == {}
    (here / "lock").write_text("")
    assert missing(checks(text)) == {"fabric: state": f"{here}/lock cannot be written"}


def test_one_missing_folder_is_one_line(slurm, checks):
    slurm()
    text = CLUSTER + "benchmarks: {npb: /none, osu-alltoall: /none, osu-bcast: /none}\n"
    assert missing(checks(text)) == {
        "benchmarks: npb and 2 more": "benchmarks: npb: /none not found"
    }


@pytest.mark.parametrize(
    ("old", "new", "what", "finding"),
    [
        ("partition: virtual", "partition: other", "partition other", "Slurm does not know it"),
        ("partition: virtual", "partition: small", "partition small", "up, 4 nodes; 8 are needed"),
        ("partition: virtual", "partition: off", "partition off", "down, 9 nodes; 8 are needed"),
        (
            "n[1-8]",
            "n[1-7]",
            "hosts of torus~dims=4x2",
            "hosts: 7 hosts for a network of 8 terminals",
        ),
        ("launcher: srun\nmpi: pmi2", "launcher: mpiexec", "launcher mpiexec", None),
        (
            "node_sets",
            "fabric: {apply: [a], restore: [b], export: angra}\nnode_sets",
            "fabric",
            None,
        ),
        ("topology", "benchmarks: {oso: /none}\ntopology", "benchmarks: oso", None),
        (
            "topology",
            "benchmarks: {osu-alltoall: /none}\ntopology",
            "benchmarks: osu-alltoall",
            None,
        ),
    ],
)
def test_missing_parts_are_named(slurm, program, checks, old, new, what, finding):
    slurm()
    program("a", "")
    program("b", "")
    absent = missing(checks(CLUSTER.replace(old, new)))
    assert set(absent) == {what}
    assert finding is None or absent[what] == finding


def test_a_smaller_network_needs_fewer_nodes(slurm, checks):
    slurm()
    text = CLUSTER.replace("virtual", "small")
    assert missing(checks(text, (), "torus~dims=4")) == {}


@pytest.mark.parametrize("sinfo", [None, "echo 'no controller' >&2; exit 1"])
def test_slurm_that_is_not_there_or_does_not_answer(program, slurm, checks, here, sinfo):
    slurm()
    (here / "bin/sinfo").unlink()
    if sinfo:
        program("sinfo", sinfo)
    absent = missing(checks(CLUSTER))
    assert set(absent) == {"Slurm"}
    assert "Errno" not in absent["Slurm"]
    assert sinfo is None or absent["Slurm"] == "no controller"


def test_hosts_that_slurm_does_not_know(slurm, checks):
    slurm(nodes=[f"n{number}.cl.example" for number in range(1, 9)])
    assert missing(checks(CLUSTER)) == {}  # short names are enough
    slurm(nodes=[f"n{number}" for number in range(1, 7)])
    assert "n[7-8]" in missing(checks(CLUSTER))["hosts in Slurm"]
    assert "n7" in missing(checks(CLUSTER, (), "torus~dims=4"))["hosts in Slurm"]
    assert "n8" not in missing(checks(CLUSTER, (), "torus~dims=4"))["hosts in Slurm"]


MPI = (
    "MPI plugin types are...\\n\\tnone\\n\\t{}\\n"
    "specific pmix plugin versions available: pmix_v4\\n"
)


def test_a_type_of_mpi_that_srun_does_not_know(slurm, checks):
    slurm(mpi=MPI.format("pmi2"))
    assert missing(checks(CLUSTER)) == {}
    assert missing(checks(CLUSTER.replace("pmi2", "pmix_v4"))) == {}
    slurm(mpi=MPI.format("pmix"))
    assert set(missing(checks(CLUSTER))) == {"mpi: pmi2"}


def test_salloc_is_needed_outside_of_an_allocation(slurm, checks, here, monkeypatch):
    slurm()
    (here / "bin/salloc").unlink()
    assert set(missing(checks(CLUSTER))) == {"salloc"}
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-8]")
    assert missing(checks(CLUSTER)) == {}


def test_a_benchmark_that_cannot_run_or_is_not_there(program, checks, here):
    program("mpiexec", "")
    (here / "npb").mkdir()
    text = f"nodes: 4\nbenchmarks: {{npb: {here}/npb}}\n"
    assert checks(text)["benchmarks: npb"] == ("cannot tell", f"folder {here}/npb")
    lu = "npb~kernel=lu,class=S,version=3.3"
    assert "no lu.S.4" in missing(checks(text, [lu]))[f"benchmark {lu}"]
    program("lu.S.4", "", folder="npb")
    assert missing(checks(text, [lu])) == {}
    state, finding = checks(text.replace("nodes: 4", "nodes: 3"), [lu])[f"benchmark {lu}"]
    assert (state, "3 nodes" in finding) == ("cannot tell", True)


@pytest.mark.parametrize(
    ("text", "arguments", "word"),
    [
        ("nodes: 0\n", (), "nodes"),
        ("nodes: 2\n", (["npbb"],), "npbb"),
        ("nodes: 2\n", ((), "toruss~dims=4"), "toruss"),
    ],
)
def test_a_wrong_file_or_name_is_wrong_input(checks, text, arguments, word):
    with pytest.raises(InputError, match=word):
        checks(text, *arguments)

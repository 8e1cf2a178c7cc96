"""What is missing on a cluster: each state of its parts, told by commands that print as ours do."""

import sys
from ctypes.util import find_library

import pytest

from routelab.api import InputError
from routelab.registry.instances import load
from routelab.stages.cluster.check import check_cluster
from routelab.stages.cluster.networks import strangers

PARTITIONS = ["virtual|virtual*|up|infinite|1-infinite|8", "small|small|up|30:00|1-2|8"]
STATES = [f"n{number}|virtual|idle|none" for number in range(1, 9)]
CLUSTER = """\
launcher: srun
mpi: pmi2
partition: virtual
topology: torus~dims=4x2
hosts: n[1-8]
node_sets: {torus~dims=4: "n[1,3,5,7]"}
"""

FOLDER = "add its folder to environment: LD_LIBRARY_PATH"


@pytest.fixture
def checks(here):
    """What the check of a file says, with its state, by what was checked."""

    def checks(text, *arguments, **named):
        path = here / "some.yaml"
        path.write_text(text)
        found = check_cluster(str(path), *arguments, **named)
        return {one.what: (one.state, one.found, one.fix) for one in found}

    return checks


def missing(found):
    return {what: told[1:] for what, told in found.items() if told[0] != "ok"}


def test_a_cluster_where_everything_is_there(here, slurm, checks):
    slurm()
    assert checks(CLUSTER) == {
        "file": ("ok", str(here / "some.yaml"), ""),
        "hosts": ("ok", "n[1-8] as torus~dims=4x2", ""),
        "coordinates": ("ok", "by the order of the terminals of torus~dims=4x2", ""),
        "node set torus~dims=4": ("ok", "n[1,3,5,7] as torus~dims=4", ""),
        "node set torus~dims=4: neighbours": (
            "ok",
            "each channel is one of torus~dims=4x2",
            "",
        ),
        "launcher srun": ("ok", f"{here}/bin/srun (slurm-wlm 22.05.8)", ""),
        "partition virtual": (
            "ok",
            "up, 8 nodes, jobs of 1-infinite nodes, time limit infinite",
            "",
        ),
        "nodes n[1-8]": ("ok", "idle", ""),
        "srun --mpi=pmi2": ("ok", "srun lists it", ""),
        "fabric none": ("ok", "the routing of the fabric is not changed", ""),
    }


RESUME = "wait, choose other hosts, or resume it (scontrol update ... state=resume)"


def test_nodes_that_take_no_jobs_are_listed_with_their_reason(slurm, checks):
    slurm(
        states=[
            "n1|virtual|idle|none",
            "n2|virtual|drained|bad | cable",
            "n3|virtual|down*|Not responding",
            "n4|virtual|idle*|none",
            "n5|small|idle|none",
            "n6|virtual|allocated|none",
            "n7|virtual|mixed-|none",
        ]
    )
    found = checks(CLUSTER)
    assert {what: told for what, told in found.items() if what.startswith("nodes")} == {
        "nodes n1": ("ok", "idle", ""),
        "nodes n6": ("ok", "allocated", ""),
        "nodes n7": ("ok", "mixed-", ""),
        "nodes n2": ("missing", "drained (bad | cable)", RESUME),
        "nodes n3": ("missing", "down and does not answer (Not responding)", RESUME),
        "nodes n4": ("missing", "idle and does not answer", RESUME),
        "nodes n5": ("missing", "not in partition virtual", "fix hosts or partition"),
        "nodes n8": ("missing", "Slurm does not know it", "fix hosts or partition"),
    }


@pytest.mark.parametrize(
    ("partition", "lines", "told"),
    [
        (
            "virtuel",
            PARTITIONS,
            ("Slurm does not know it", "name one of Slurm's: virtual, small"),
        ),
        (
            "virtual",
            ["virtual|virtual*|down|infinite|1-infinite|8"],
            ("it is down", "wait, or choose another partition"),
        ),
        (
            "virtual",
            ["virtual|virtual*|up|1:00:00|1-infinite|4"],
            (
                "up, 4 nodes, jobs of 1-infinite nodes, time limit 1:00:00; 8 nodes are needed",
                "choose another partition, or a smaller network (--topology)",
            ),
        ),
        (
            "small",
            PARTITIONS,
            (
                "up, 8 nodes, jobs of 1-2 nodes, time limit 30:00; 8 nodes are needed",
                "choose another partition, or a smaller network (--topology)",
            ),
        ),
    ],
)
def test_partitions_that_take_no_job_of_that_size(slurm, checks, partition, lines, told):
    slurm(lines)
    found = checks(CLUSTER.replace("partition: virtual", f"partition: {partition}"))
    assert missing(found)[f"partition {partition}"] == told


def test_a_smaller_network_needs_fewer_nodes(slurm, checks):
    slurm([*PARTITIONS, "virtual|virtual*|up|infinite|1-infinite|8"], STATES[:7])
    assert missing(checks(CLUSTER, topology="torus~dims=4")) == {}


def test_without_a_partition_it_is_slurm_s_default(slurm, checks):
    text = CLUSTER.replace("partition: virtual\n", "")
    slurm()
    assert checks(text)["partition virtual"][0] == "ok"
    slurm(PARTITIONS[1:])
    assert missing(checks(text))["partition"] == (
        "none is named, and Slurm has no default",
        "name one: partition: ...; there are small",
    )


def test_slurm_that_is_not_there_or_does_not_answer(program, slurm, checks, here):
    assert missing(checks(CLUSTER)) == {
        "launcher srun": (
            "there is no srun here",
            "run this on a host with Slurm's commands, or choose a cluster with another launcher",
        ),
        "Slurm": (
            "sinfo was not found here",
            "run this on a host with Slurm's commands (Debian: slurm-client)",
        ),
    }
    slurm()
    error = "slurm_load_partitions: Unable to contact slurm controller (connect failure)"
    program("sinfo", f"echo '{error}' >&2; exit 1")
    assert missing(checks(CLUSTER)) == {
        "Slurm": (error, "check that slurmctld runs and that this host belongs to its cluster")
    }


def test_the_kind_of_mpi_has_to_be_listed(slurm, checks):
    slurm()
    assert missing(checks(CLUSTER.replace("pmi2", "pmi9"))) == {
        "srun --mpi=pmi9": ("srun does not list it", "one of pmix, none, pmi2, pmix_v4")
    }
    # as versions before 21.08 have it
    slurm(srun="printf 'srun: MPI types are...\\nsrun: pmi2\\nsrun: none\\n' >&2")
    assert missing(checks(CLUSTER)) == {}
    unsaid = CLUSTER.replace("mpi: pmi2\n", "")
    assert missing(checks(unsaid)) == {
        "srun --mpi": (
            "Slurm's default is none: each rank would run alone",
            "set the type that the benchmarks need: mpi: pmi2 (MPICH) or pmix (Open MPI)",
        )
    }
    slurm(config="MpiDefault              = pmi2")
    assert checks(unsaid)["srun --mpi"] == ("ok", "Slurm's default, pmi2", "")


HYDRA = "printf 'HYDRA build details:\\n    Version:                 4.0.2\\n'"
OPEN_MPI = "echo 'mpirun (Open MPI) 4.1.4'"


def test_the_launcher_has_to_be_the_one_that_the_file_says(program, checks, here):
    program("mpiexec", HYDRA)
    found = f"{here}/bin/mpiexec (Version: 4.0.2)"
    assert checks("launcher: mpiexec\n")["launcher mpiexec"] == ("ok", found, "")
    program("mpiexec", OPEN_MPI)
    assert missing(checks("launcher: mpiexec\n")) == {
        "launcher mpiexec": (
            f"{here}/bin/mpiexec (mpirun (Open MPI) 4.1.4) is that of Open MPI",
            "set launcher: openmpi, or the path of the launcher: program: /path/to/it",
        )
    }
    assert missing(checks("launcher: openmpi\n")) == {
        "launcher openmpi": (
            "there is no mpirun.openmpi or mpiexec.openmpi or mpirun here",
            "install Open MPI (Debian: openmpi-bin), or set its path: program: /path/to/mpirun",
        )
    }


@pytest.mark.parametrize("user", [0, 1000])
def test_open_mpi_starts_nothing_for_root_unless_it_is_told_to(program, checks, monkeypatch, user):
    monkeypatch.setattr("os.geteuid", lambda: user)
    path = program("mpirun", OPEN_MPI)
    found = f"{path} (mpirun (Open MPI) 4.1.4)"
    told = '{OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1"}'
    refused = (
        "missing",
        f"{found} starts nothing for root",
        f"use another account, or set environment: {told}",
    )
    what = "launcher openmpi"
    assert checks("launcher: openmpi\n")[what] == (("ok", found, "") if user else refused)
    assert checks(f"launcher: openmpi\nenvironment: {told}\n")[what] == ("ok", found, "")


MPICH = "echo '\tlibmpi.so.12 => /usr/lib/libmpi.so.12 (0x00007f)'"
OPEN = "echo '\tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x00007f)'"


@pytest.mark.parametrize(
    ("launcher", "ldd", "told"),
    [
        ("mpiexec", MPICH, ("ok", "libmpi.so.12 (MPICH)", "")),
        ("openmpi", OPEN, ("ok", "libmpi.so.40 (Open MPI)", "")),
        ("mpiexec", MPICH.replace("libmpi.", "libmpich."), ("ok", "libmpich.so.12 (MPICH)", "")),
        (
            "mpiexec",
            OPEN,
            (
                "missing",
                "libmpi.so.40 (Open MPI), and mpiexec starts MPICH: each rank would run alone",
                "set launcher: openmpi, or build the benchmark with MPICH",
            ),
        ),
        (
            "openmpi",
            MPICH,
            (
                "missing",
                "libmpi.so.12 (MPICH), and openmpi starts Open MPI: each rank would run alone",
                "set launcher: mpiexec, or build the benchmark with Open MPI",
            ),
        ),
        (
            "mpiexec",
            "echo '\tlibmpi.so.12 => not found'",
            (
                "missing",
                "libmpi.so.12 not found",
                (
                    "add its folder to environment: LD_LIBRARY_PATH; Debian calls MPICH's "
                    "libmpich.so.12: make a folder with a link libmpi.so.12 to it"
                ),
            ),
        ),
        (
            "mpiexec",
            "echo '\tlibgfortran.so.5 => not found'",
            (
                "missing",
                "libgfortran.so.5 not found",
                "add its folder to environment: LD_LIBRARY_PATH",
            ),
        ),
        (
            "mpiexec",
            "echo '\tlibc.so.6 => /lib/libc.so.6 (0x00007f)'",
            ("cannot tell", "it is not linked with a known MPI library", ""),
        ),
        (
            "mpiexec",
            "echo '\tnot a dynamic executable' >&2; exit 1",
            ("cannot tell", "ldd: not a dynamic executable", ""),
        ),
    ],
)
def test_benchmarks_have_to_be_of_the_launcher_s_mpi(program, checks, launcher, ldd, told):
    program("mpiexec", HYDRA)
    program("mpirun", OPEN_MPI)
    program("ldd", ldd)
    path = program("osu_alltoall", "", "osu")
    text = f"launcher: {launcher}\nnodes: 2\nbenchmarks: {{osu-alltoall: {path}}}\n"
    for found, what in (
        (checks(text), "benchmarks: osu-alltoall"),
        (checks(text, ["osu-alltoall"]), "benchmark osu-alltoall"),
    ):
        assert found[what] == ("ok", str(path), "")
        assert found[f"{what}: MPI"] == told


def test_srun_starts_any_mpi_that_it_was_built_for(program, slurm, checks):
    slurm()
    program("ldd", OPEN)
    path = program("osu_alltoall", "", "osu")
    text = f"{CLUSTER}benchmarks: {{osu-alltoall: {path}}}\n"
    what = "benchmarks: osu-alltoall: MPI"
    assert checks(text)[what] == (
        "cannot tell",
        "libmpi.so.40 (Open MPI); --mpi=pmi2 is sure to start MPICH",
        "test with two nodes how many ranks start",
    )
    assert checks(text.replace("pmi2", "pmix"))[what] == ("ok", "libmpi.so.40 (Open MPI)", "")
    assert checks(text.replace("pmi2", "pmix_v4"))[what][0] == "ok"


def test_of_a_python_it_is_the_mpi_that_mpi4py_loads(program, checks):
    program("mpiexec", HYDRA)
    path = program("python3", "printf 'MPICH Version:\\t4.0.2\\nMPICH Release date: x\\n'", "py")
    text = f"nodes: 2\nbenchmarks: {{mpi-patterns: {path.parent}}}\n"
    what = "benchmark mpi-patterns: MPI"
    assert checks(text, ["mpi-patterns"])[what] == ("ok", "mpi4py with MPICH 4.0.2", "")
    program("python3", "echo 'Open MPI v4.1.4, package: Debian'", "py")
    assert checks(text, ["mpi-patterns"])[what][0] == "missing"
    program("python3", "echo \"ModuleNotFoundError: No module named 'mpi4py'\" >&2; exit 1", "py")
    assert checks(text, ["mpi-patterns"])[what] == (
        "missing",
        "mpi4py: ModuleNotFoundError: No module named 'mpi4py'",
        f"install mpi4py for {path}, or name another python",
    )


@pytest.mark.parametrize(("launcher", "abi"), [("mpiexec", "mpich"), ("openmpi", "openmpi")])
def test_mpi4py_is_asked_for_the_mpi_of_the_launcher(program, checks, launcher, abi):
    path = program("python3", 'echo "ImportError: no libmpi of $MPI4PY_MPIABI" >&2; exit 1', "py")
    text = f"launcher: {launcher}\nbenchmarks: {{mpi-patterns: {path.parent}}}\n"
    assert checks(text, ["mpi-patterns"])["benchmark mpi-patterns: MPI"] == (
        "missing",
        f"mpi4py: ImportError: no libmpi of {abi}",
        f"install the launcher's MPI; if it is there, {FOLDER}",
    )


@pytest.mark.skipif(find_library("mpich") is None, reason="Debian's MPICH is not installed")
@pytest.mark.parametrize(("launcher", "state"), [("mpiexec", "ok"), ("openmpi", "missing")])
def test_debians_mpich_is_found_where_mpi4py_does_not_look(here, checks, launcher, state):
    (here / "mpi4py").mkdir()
    (here / "mpi4py" / "__init__.py").write_text("class rc: pass\n")
    (here / "mpi4py" / "MPI.py").write_text("raise ImportError('libmpi.so.12: no such file')\n")
    python = (
        f"benchmarks: {{mpi-patterns: {sys.executable}}}\nenvironment: {{PYTHONPATH: {here}}}\n"
    )
    told = checks(f"launcher: {launcher}\n{python}", ["mpi-patterns"])[
        "benchmark mpi-patterns: MPI"
    ]
    assert told[0] == state
    assert told[1].startswith("mpi4py with MPICH 4" if state == "ok" else "mpi4py: ImportError")


def test_benchmarks_that_are_not_there_or_cannot_run(program, checks, here):
    program("mpiexec", HYDRA)
    (here / "npb").mkdir()
    text = f"nodes: 3\nbenchmarks: {{npb: {here}/npb, oso-alltoall: /none, osu-alltoall: /none}}\n"
    assert missing(checks(text)) == {
        "benchmarks: npb": (
            f"folder {here}/npb",
            "add --benchmark npb: the required files depend on its parameters",
        ),
        "benchmarks: oso-alltoall": (
            "benchmark plugin not found",
            "did you mean 'osu-alltoall'?",
        ),
        "benchmarks: osu-alltoall": ("/none not found", "name an executable, or its folder"),
    }
    asked = "npb~kernel=lu,class=S,version=3.3"
    found = check_cluster(str(here / "some.yaml"), [asked])
    refusal = load("benchmark", asked).supports(3, 1)
    assert refusal
    assert [(one.found, one.fix) for one in found if one.state == "missing"] == [
        (
            f"{refusal} (3 nodes with 1 ranks each)",
            "choose another network (--topology) or ranks_per_node",
        ),
        (f"no lu.S.3 in {here}/npb", "name another folder, or the executable"),
    ]


def test_all_wrong_names_are_told_at_once(here):
    (here / "some.yaml").write_text("nodes: 0\n")
    with pytest.raises(InputError) as raised:
        check_cluster("some.yaml", ["npbb"], "toruss~dims=4", ["dorr"])
    lines = str(raised.value).splitlines()
    assert lines[0] == "some.yaml:1: nodes: 0 should be greater than or equal to 1"
    assert [name for name in ("npbb", "toruss", "dorr") if name not in str(raised.value)] == []


def test_hosts_that_do_not_go_with_their_networks(slurm, checks):
    slurm()
    text = CLUSTER.replace("n[1,3,5,7]", "n[1-4]").replace("n[1-8]", "n[1-7]")
    found = missing(checks(text))
    assert found["hosts"] == (
        "7 hosts for a network of 8 terminals",
        "list one for each terminal, in their order",
    )
    found = missing(checks(CLUSTER.replace("n[1,3,5,7]", "n[1-4]")))
    assert found == {
        "node set torus~dims=4: neighbours": (
            "n1 and n4, n2 and n3 are neighbours in it, but not in torus~dims=4x2",
            "choose other hosts, or list them in the order of the terminals",
        )
    }
    found = missing(checks(CLUSTER.replace("n[1,3,5,7]", "n[1-3]")))
    assert found == {
        "node set torus~dims=4": (
            "3 hosts for a network of 4 terminals",
            "list one for each terminal, in their order",
        )
    }
    found = missing(checks(CLUSTER, topology="torus~dims=2"))
    assert found["node set torus~dims=2"][0] == (
        "missing hosts for torus~dims=2, only for torus~dims=4x2, torus~dims=4"
    )
    found = missing(checks(CLUSTER.replace("topology: torus~dims=4x2\n", "nodes: 8\n")))
    assert found["coordinates"] == (
        "topology is missing",
        "name their network: topology: torus~dims=...",
    )
    assert missing(checks("launcher: srun\nmpi: pmi2\n"))["hosts"] == (
        "none, but the launcher is srun",
        "list them in 'hosts', or measure in an allocation (salloc, sbatch)",
    )


def test_strangers_are_the_neighbours_that_distances_tell_apart():
    """A twin: in a torus hosts are neighbours if one coordinate differs, by one step."""
    whole = load("topology", "torus~dims=4x3").build()
    part = load("topology", "mesh~dims=3x2").build()
    places = whole.coordinates.tolist()
    hosts = [f"n{number}" for number in range(12)]
    chosen = [0, 1, 3, 4, 9, 11]

    def apart(one, other):
        steps = [
            min((a - b) % size, (b - a) % size)
            for a, b, size in zip(places[one], places[other], (4, 3), strict=True)
        ]
        return sum(steps) != 1

    ends = zip(part.channel_source.tolist(), part.channel_target.tolist(), strict=True)
    expected = {
        tuple(sorted((hosts[chosen[a]], hosts[chosen[b]])))
        for a, b in ends
        if apart(chosen[a], chosen[b])
    }
    found = set(strangers(part, [hosts[at] for at in chosen], whole, hosts))
    assert found == expected == {("n3", "n9"), ("n11", "n4")}


FABRIC = """\
topology: torus~dims=2x2
fabric:
  use: command
  apply: [{apply}, "{{folder}}"]
  restore: [/bin/true]
  check: [{check}, "{{folder}}"]
  state: /shared
"""


def test_a_fabric_is_asked_and_not_switched(program, checks, here):
    program("mpiexec", HYDRA)
    apply = program("apply", f"echo applied >> {here}/log")
    check = program(
        "check", f'[ -s "$1"/hosts.txt ] || set -- "$1"/*; [ -s "$1" ] && echo >{here}/ran'
    )
    text = FABRIC.format(apply=apply, check=check)
    assert missing(checks(text)) == {
        "fabric command": (
            "no routing is named",
            "add --routing NAME: its files are written, and the site's check is run",
        )
    }
    assert not (here / "ran").exists()
    found = checks(text, routings=["angara-sssp"])
    assert found["fabric command: check"] == ("ok", "nothing is missing", "")
    assert (here / "ran").exists()
    assert not (here / "log").exists()
    program("check", "echo 'not in group fabric' >&2; exit 3")
    told = missing(checks(text, routings=["angara-sssp"]))["fabric command: check"]
    assert "exit code 3" in told[0]
    assert "not in group fabric" in told[0]
    apply.chmod(0o644)
    told = missing(checks(text, routings=["angara-sssp"]))["fabric command"]
    assert told[0].startswith(f"apply: {apply} cannot be executed")


def test_sudo_is_asked_whether_it_allows_the_command(program, checks, here):
    program("mpiexec", HYDRA)
    sudo = program("sudo", f'printf "%s\\n" "$*" >> {here}/asked; [ "$3" = /opt/apply ]')
    text = f"""\
topology: torus~dims=2x2
fabric:
  use: command
  export: ""
  apply: [{sudo}, -E, --, /opt/apply, x y]
  restore: [sudo, -u, fabric, /opt/restore]
"""
    found = checks(text)
    assert found["fabric command: rights"] == (
        "missing",
        "sudo does not allow sudo -u fabric /opt/restore: exit code 1",
        "allow it without a password (sudoers: NOPASSWD)",
    )
    asked = (here / "asked").read_text().splitlines()
    assert asked == ["-n -l /opt/apply x y", "-n -l -u fabric /opt/restore"]


def test_a_fabric_without_a_shared_lock_is_told(program, checks):
    program("mpiexec", HYDRA)
    hook = program("hook", "exit 0")
    text = FABRIC.format(apply=hook, check=hook)
    assert "fabric command: lock" not in checks(text)
    assert checks(text.replace("  state: /shared\n", ""))["fabric command: lock"] == (
        "cannot tell",
        "two people with separate results folders could switch the fabric at the same time",
        "set a folder that all of them can write: fabric: {..., state: /shared/folder}",
    )


def test_a_network_that_is_none_is_wrong_input_without_hosts_too(program, checks):
    program("mpiexec", HYDRA)
    with pytest.raises(InputError, match=r"some\.yaml: topology: .*nope"):
        checks("topology: nope~x=1\n")

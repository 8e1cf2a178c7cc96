"""The exact commands that start ranks."""

import pytest

from routelab.api import InputError, RoutelabError
from routelab.cluster.bench.environment import check_hosts_of_ranks, environment_of
from routelab.cluster.bench.launchers import (
    Launcher,
    driver_environment,
    find_program,
    probe_command,
)
from routelab.study.cluster.keys import Cluster

HOSTS = ("n03", "n01")
PROGRAM = ("/opt/osu/osu_alltoall", "-f", "-m", "1:$(x)")


def launch(cluster, hosts=HOSTS, ranks_per_node=2):
    nodes = len(hosts) or 1
    return Launcher(cluster, "/bin/launcher", hosts, nodes, ranks_per_node).make_launch(
        PROGRAM, "abc"
    )


def test_srun_keeps_the_order_of_the_network():
    command = launch(Cluster(launcher="srun", mpi="pmi2", options=["--cpu-bind=cores"]))
    assert command.arguments == (
        "/bin/launcher", "--mpi=pmi2", "--nodes=2", "--distribution=arbitrary", "--ntasks=4",
        "--overlap", "--kill-on-bad-exit=1", "--input=none", "--job-name=abc", "--cpu-bind=cores",
        *PROGRAM,
    )  # fmt: skip
    assert command.environment == {"SLURM_HOSTFILE": "hosts.txt"}
    assert command.hostfile == "n03\nn03\nn01\nn01\n"


def test_hydra():
    command = launch(Cluster(launcher="mpiexec", environment={"FI_PROVIDER": "tcp"}))
    assert command.arguments == ("/bin/launcher", "-f", "hosts.txt", "-n", "4", *PROGRAM)
    assert command.environment == {"FI_PROVIDER": "tcp"}
    assert command.hostfile == "n03:2\nn01:2\n"


def test_open_mpi_gets_the_environment_by_name():
    command = launch(Cluster(launcher="openmpi", environment={"UCX_TLS": "rc"}))
    assert command.arguments == (
        "/bin/launcher", "-x", "UCX_TLS", "--hostfile", "hosts.txt",
        "--map-by", "ppr:2:node", "-n", "4", *PROGRAM,
    )  # fmt: skip
    assert command.hostfile == "n03 slots=2\nn01 slots=2\n"


@pytest.mark.parametrize(
    ("launcher", "words"), [("mpiexec", ("-n", "2")), ("openmpi", ("--oversubscribe", "-n", "2"))]
)
def test_this_machine_needs_no_hosts(launcher, words):
    command = launch(Cluster(launcher=launcher), hosts=())
    assert command.arguments == ("/bin/launcher", *words, *PROGRAM)
    assert command.hostfile == ""


def test_the_launcher_is_found_by_its_least_ambiguous_name(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match=r"no mpiexec.mpich or mpiexec.hydra or mpiexec here; inst"
    ):
        find_program(Cluster(launcher="mpiexec"))
    for name in ("mpiexec", "mpiexec.hydra"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert find_program(Cluster(launcher="mpiexec")) == str(tmp_path / "mpiexec.hydra")
    named = Cluster(launcher="mpiexec", program=str(tmp_path / "mpiexec"))
    assert find_program(named) == str(tmp_path / "mpiexec")


def test_the_probe_names_variables_of_the_launcher_only():
    assert "SLURM" not in "".join(probe_command("mpiexec") + probe_command("openmpi"))
    assert "PMI_RANK" not in "".join(probe_command("srun") + probe_command("openmpi"))


def reports(*hosts, of=None):
    return [(str(rank), str(of or len(hosts)), host, "Linux") for rank, host in enumerate(hosts)]


def test_ranks_have_to_be_where_the_network_has_them():
    assert (
        check_hosts_of_ranks(reports("n03", "n03", "n01.site", "n01.site"), HOSTS, 4)[2]
        == "n01.site"
    )
    with pytest.raises(RoutelabError, match="rank 1 runs on n01 but must run on n03"):
        check_hosts_of_ranks(reports("n03", "n01", "n03", "n01"), HOSTS, 4)
    assert check_hosts_of_ranks(reports("here", "here"), (), 2) == ["here", "here"]


@pytest.mark.parametrize(
    "ranks",
    [
        reports("n03", "n03", "n01"),
        [("0", "1", host, "Linux") for host in ("n03", "n03", "n01", "n01")],
        [("?", "?", host, "Linux") for host in ("n03", "n03", "n01", "n01")],
        reports("n03", "n03", "n01", "n01", of=8),
    ],
)
def test_singletons_and_other_numbers_are_refused(ranks):
    with pytest.raises(RoutelabError, match="4 ranks were requested"):
        check_hosts_of_ranks(ranks, HOSTS, 4)


def test_secrets_are_not_kept():
    kept = environment_of({"SLURM_JOB_ID": "3", "AWS_SECRET": "x", "FI_PROVIDER": "tcp", "A": "b"})
    assert kept == {"FI_PROVIDER": "tcp", "SLURM_JOB_ID": "3"}


def test_the_place_of_the_driver_is_not_that_of_a_run():
    kept = {
        "PATH": "/bin",
        "SLURM_JOB_ID": "3",
        "SLURM_CONF": "x",
        "PMIC": "1",
        "OMPI_MCA_btl": "tcp",
    }
    own = ("PMI_RANK", "SLURM_PROCID", "SLURM_NTASKS_PER_NODE", "SLURM_STEP_ID", "SLURM_HOSTFILE")
    assert driver_environment(kept | dict.fromkeys(own, "1")) == kept

"""MPI programs built with smpicc run on our routes, and what goes wrong in SimGrid is told."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from routelab.api import Collective, Program
from routelab.metrics import channel_loads
from routelab.registry.instances import load
from routelab.simulation.flow.engine import run_flows
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.schedule import schedule
from routelab.simulation.smpi import simgrid as smpi
from routelab.toolkit.machine import Machine

MEBI = 2**20
BARE = Machine(link_bandwidth=4e9, latency=0.0, hop_latency=0.0, handshake=False)

ALLTOALL = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    int rank, size, bytes = atoi(words[1]);
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = malloc((size_t)bytes * size), *in = malloc((size_t)bytes * size);
    MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks\n", size);
    MPI_Finalize();
    return 0;
}
"""


@pytest.fixture(scope="module")
def alltoall(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (folder / "alltoall.c").write_text(ALLTOALL)
    subprocess.run(
        [smpi.find_program("smpicc"), "alltoall.c", "-o", "alltoall"], cwd=folder, check=True
    )
    return folder / "alltoall"


def platform(table, machine):
    return load("export", "simgrid~latency=per-route").export(table, machine)["platform.xml"]


HOSTS = [f"t{terminal}" for terminal in range(32)]


@pytest.mark.parametrize("name", ["milp", "one-line"])
def test_a_program_takes_the_time_of_the_busiest_channel(tables, alltoall, name):
    linear = ["--cfg=smpi/alltoall:basic_linear"]
    run = smpi.run_executable(
        alltoall, platform(tables[name], BARE), HOSTS, BARE, [str(MEBI)], options=linear
    )
    assert run.output == "32 ranks\n"
    load_ = channel_loads(tables[name]).max()
    assert run.seconds == pytest.approx(load_ * MEBI / 4e9, rel=1e-3)


def test_a_program_and_its_model_take_equally_long(tables, alltoall):
    """MPICH does an alltoall of 1 MiB on 32 ranks pairwise; what SMPI calls so is a ring."""
    machine = Machine(link_bandwidth=4e9, latency=1e-6, hop_latency=0.0)
    table = tables["sssp"]
    run = smpi.run_executable(
        alltoall,
        platform(table, machine),
        HOSTS,
        machine,
        [str(MEBI)],
        options=["--cfg=smpi/alltoall:pair"],
    )
    program = Program(32, (Collective("alltoall", MEBI),), "")
    paths = Paths.create(table, np.arange(32))
    assert run.seconds == pytest.approx(
        run_flows(schedule(program), paths, machine).seconds, rel=0.001
    )


def test_programs_of_another_mpi_and_nonexistent_hosts_are_rejected(tables, alltoall):
    where = platform(tables["sssp"], BARE)
    for program, hosts in ((smpi.Path("/bin/true"), HOSTS), (alltoall, ["t0", "t99"])):
        with pytest.raises(smpi.SmpiError, match="SimGrid printed no simulated time"):
            smpi.run_executable(program, where, hosts, BARE, ["8"], limit=60)


def test_a_program_that_takes_too_long_is_ended(tables, alltoall):
    with pytest.raises(smpi.SmpiError, match=r"more than 0\.2 s"):
        smpi.run_executable(
            alltoall, platform(tables["sssp"], BARE), HOSTS, BARE, [str(2 * MEBI)], limit=0.2
        )

"""What is run: exact commands, files, names of programs, and what predicts a run."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from routelab.api import BenchmarkTask, FigureOfMerit, Job, WorkloadModel
from routelab.registry.instances import load
from routelab_plugins.workload import npb_cg, npb_ft, npb_is, npb_lu, npb_mg

MIB = 1 << 20


def task(ranks=32, nodes=32, program="/opt/bin/program"):
    return BenchmarkTask(ranks, nodes, Path(program), Path("/run"))


def benchmark(text):
    return load("benchmark", text)


@pytest.mark.parametrize(
    ("text", "ranks", "command"),
    [
        ("osu-alltoall", 32, "P -f -m 1048576:1048576 -i 100 -x 10"),
        (
            "osu-alltoall~size=1,doublings=20,iterations=20,warm_up=0",
            2,
            "P -f -m 1:1048576 -i 20 -x 0",
        ),
        ("osu-alltoall~size=3,doublings=2", 2, "P -f -m 3:12 -i 100 -x 10"),
        # 512 MiB for both buffers are allowed without being asked for
        ("osu-alltoall~size=4MiB", 64, "P -f -m 4194304:4194304 -i 100 -x 10"),
        ("osu-alltoall~size=4MiB", 65, "P -f -m 4194304:4194304 -i 100 -x 10 -M 545259520"),
        ("osu-alltoall~validate=true", 2, "P -f -m 1048576:1048576 -i 100 -x 10 -c"),
        ("osu-allreduce~size=4,doublings=3", 2, "P -f -m 4:32 -i 100 -x 10"),
        ("osu-allreduce~size=512MiB", 2, "P -f -m 536870912:536870912 -i 100 -x 10 -M 1073741824"),
        ("osu-bcast~iterations=9", 65, "P -f -m 1048576:1048576 -i 9 -x 10"),
        ("osu-barrier", 4, "P -f -i 1000 -x 10"),
        ("osu-latency~size=1,doublings=2", 2, "P -m 1:4 -i 100 -x 10"),
        ("osu-bw~validate=true", 2, "P -m 1048576:1048576 -i 100 -x 10 -c"),
        ("osu-bibw~window=32", 2, "P -m 1048576:1048576 -i 100 -x 10 -W 32"),
        ("osu-mbw-mr", 8, "P -m 1048576:1048576 -i 100 -x 10"),
        ("npb~kernel=cg,class=C", 16, "P"),
        (
            "imb-alltoall~iterations=10",
            4,
            "P Alltoall -npmin 4 -msglen msglen.txt -iter 10 -iter_policy off -time 86400",
        ),
        (
            "imb-alltoall~size=4MiB,iterations=9",
            128,
            "P Alltoall -npmin 128 -msglen msglen.txt -iter 9 -iter_policy off -time 86400 -mem 2",
        ),
        ("mpi-patterns", 8, "P mpi_patterns.py alltoall -m 1048576:1048576 -i 100 -x 10"),
        (
            "mpi-patterns~pattern=tornado,size=64KiB,doublings=2,iterations=5,warm_up=1",
            8,
            "P mpi_patterns.py tornado -m 65536:262144 -i 5 -x 1",
        ),
    ],
)
def test_the_command_is_exactly(text, ranks, command):
    expected = ["/opt/bin/program" if word == "P" else word for word in command.split()]
    assert benchmark(text).command(task(ranks)) == tuple(expected)


@pytest.mark.parametrize(
    ("text", "ranks", "names"),
    [
        ("osu-alltoall", 4, ("osu_alltoall",)),
        ("osu-mbw-mr", 4, ("osu_mbw_mr",)),
        ("imb-alltoall", 4, ("IMB-MPI1",)),
        ("npb~kernel=lu,class=C", 128, ("lu.C.x",)),
        ("npb~kernel=lu,class=C,version=3.3", 128, ("lu.C.128",)),
        ("npb~kernel=is,class=D,version=3.3", 8, ("is.D.8",)),
        ("mpi-patterns", 4, (sys.executable, "python3")),
    ],
)
def test_names_of_programs(text, ranks, names):
    assert benchmark(text).executables(ranks) == names


def test_files_of_a_run():
    lengths = benchmark("imb-alltoall~size=64KiB,doublings=2").files(task())
    assert lengths == {"msglen.txt": "65536\n131072\n262144\n"}
    assert benchmark("osu-alltoall").files(task()) == {}


def test_the_program_of_patterns_needs_mpi4py_and_numpy_only():
    ((name, program),) = benchmark("mpi-patterns").files(task()).items()
    assert name in benchmark("mpi-patterns").command(task())
    nodes = list(ast.walk(ast.parse(program)))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    strangers = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    assert strangers == {"mpi4py", "numpy"}


@pytest.mark.parametrize(
    ("text", "ranks", "reason"),
    [
        ("osu-alltoall", 1, "two processes or more"),
        ("osu-latency", 3, "exactly two processes, not 3"),
        ("osu-bibw", 1, "two processes or more"),
        ("osu-latency", 2, None),
        ("osu-mbw-mr", 5, "pairs of processes, not 5"),
        ("osu-mbw-mr", 6, None),
        ("imb-alltoall", 1, "two processes or more"),
        ("mpi-patterns", 1, "two processes or more"),
        ("mpi-patterns~pattern=tornado", 2, "to itself"),
        ("mpi-patterns~pattern=transpose", 7, "to itself"),
        ("mpi-patterns~pattern=transpose", 6, None),
        ("mpi-patterns~pattern=neighbor", 2, None),
    ],
)
def test_numbers_of_processes(text, ranks, reason):
    said = benchmark(text).supports(ranks, 1)
    assert (said is None) if reason is None else (reason in said)


@pytest.mark.parametrize("model", [npb_lu.NpbLu, npb_mg.NpbMg, npb_cg.NpbCg, npb_ft.NpbFt])
@pytest.mark.parametrize("class_", "SWABCD")
def test_a_program_and_its_model_accept_the_same(model, class_):
    kernel = model.name.removeprefix("npb-")
    for version in ("3.3", "3.4"):
        program = benchmark(f"npb~kernel={kernel},class={class_},version={version}")
        workload = model(class_=class_, version=version)
        for ranks in range(1, 70):
            assert program.supports(ranks, 1) == workload.supports(Job(ranks))


def test_is_and_its_model_accept_the_same():
    for ranks in range(1, 300):
        said = benchmark("npb~kernel=is,class=S").supports(ranks, 1)
        assert said == npb_is.NpbIs(class_="S").supports(Job(ranks))


@pytest.mark.parametrize("pattern", ["transpose", "neighbor", "tornado"])
@pytest.mark.parametrize("ranks", [4, 6, 9, 12, 16, 31, 32])
def test_patterns_are_those_of_the_workloads(pattern, ranks):
    from routelab_plugins.benchmark.mpi_patterns.program import target

    job = Job(ranks)
    workload = load("workload", pattern)
    (targets,), _ = workload.directions(job)
    assert [target(pattern, rank, ranks) for rank in range(ranks)] == targets.tolist()
    refused = benchmark(f"mpi-patterns~pattern={pattern}").supports(ranks, 1)
    assert (refused is None) == (workload.supports(job) is None)


@pytest.mark.parametrize(
    ("text", "facts", "model", "figures"),
    [
        (
            "osu-alltoall~size=64KiB,doublings=6",
            {"timed_s": 0.25},
            WorkloadModel("osu-alltoall~size=4MiB"),
            [("latency_avg", 250_000.0, "us", "lower", 4 * MIB)],
        ),
        (
            "imb-alltoall",
            {"timed_s": 1e-3},
            WorkloadModel("osu-alltoall~size=1MiB"),
            [("latency_avg", 1000.0, "us", "lower", MIB)],
        ),
        (
            "mpi-patterns~pattern=tornado",
            {"timed_s": 2e-6},
            WorkloadModel("tornado~size=1MiB"),
            [("latency_max", 2.0, "us", "lower", MIB)],
        ),
        (
            "mpi-patterns",
            {"timed_s": 2e-6},
            WorkloadModel("osu-alltoall~size=1MiB"),
            [("latency_max", 2.0, "us", "lower", MIB)],
        ),
        (
            "npb~kernel=lu,class=C,version=3.3",
            {"timed_s": 10.0, "mops": 6400.0},
            WorkloadModel("npb-lu~class=C,version=3.3", 6),
            [
                ("mops", 6400.0, "Mop/s", "higher", None),
                ("mops_per_process", 200.0, "Mop/s", "higher", None),
                ("time", 10.0, "s", "lower", None),
            ],
        ),
    ],
)
def test_models_and_predicted_figures_of_runs(text, facts, model, figures):
    plugin = benchmark(text)
    assert plugin.model(task()) == model
    load("workload", model.workload)
    assert plugin.predicted(facts, task()) == tuple(FigureOfMerit(*figure) for figure in figures)
    assert plugin.predicted({"timed_s": None, "mops": None}, task()) == ()


def test_class_e_has_no_model():
    assert benchmark("npb~class=E").model(task()) is None


@pytest.mark.parametrize("name", ["osu-alltoall", "imb-alltoall", "mpi-patterns"])
def test_messages_that_mpi_cannot_count_are_refused(name):
    assert benchmark(f"{name}~size=1GiB").supports(4, 1) is None
    assert "2147483648 bytes" in benchmark(f"{name}~size=1GiB,doublings=1").supports(4, 1)

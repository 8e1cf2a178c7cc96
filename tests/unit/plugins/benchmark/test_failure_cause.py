"""The reported cause of a failed run is what failed first.

Cases whose names begin with "real" are what Slurm 22.05 printed.
"""

from __future__ import annotations

import pytest
from bench_corpus import GOOD, PLUGINS

from routelab.api import BenchmarkError, BenchmarkResult, FigureOfMerit, RunOutput
from routelab.bench.verdict import judge_output
from routelab.registry.instances import load
from routelab.stages.bench.parse import parse_output

CANCELLED = "slurmstepd: error: *** STEP 17.0 ON n01 CANCELLED AT 2026-11-22T10:00:00 ***"
KILLED = "srun: error: n01: task 0: Killed"
LIBRARY = "libmpi.so.40: cannot open shared object file: No such file or directory"
FORMAT = "cannot execute binary file: Exec format error"
NINE = "killed by SIGKILL (kill -9, or out of memory)"
BAD = "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"

CASES = {
    "a shell finds no program": ("", ["/tmp/run: line 4: lu.S.x: command not found",
        "srun: error: n04: task 3: Exited with exit code 127", CANCELLED, KILLED], 137,
        "error-text", "n04: lu.S.x not found, exit code 127"),
    "another shell finds no program": ("", ["sh: 1: lu.S.x: not found",
        "srun: error: n04: task 3: Exited with exit code 127", KILLED], 137, "error-text",
        "n04: lu.S.x not found, exit code 127"),
    "Slurm finds no program": ("",
        ["slurmstepd: error: execve(): lu.S.x: No such file or directory",
        "srun: error: n04: task 3: Exited with exit code 2", CANCELLED, KILLED], 137,
        "error-text", "n04: lu.S.x not found, exit code 2"),
    "Hydra finds no program": (f"{BAD}\n=   EXIT CODE: 255\n",
        ["[proxy:0:0@n04] HYDU_create_process: execvp error on file lu.S.x (No such file or di"],
        255, "error-text", "n04: lu.S.x cannot be started (No such file or di)"),
    "an exit code, then kills": ("", ["srun: error: n04: task 3: Exited with exit code 3",
        CANCELLED, KILLED], 137, "error-text", "n04: rank 3 ended with exit code 3"),
    "an error of the program, then kills": (" ERROR: bad input\n",
        ["srun: error: n03: task 2: Exited with exit code 1", CANCELLED, KILLED], 137,
        "error-text", "n03: rank 2 ended with exit code 1: the output says: 'ERROR: bad input'"),
    "an abort, then kills": ("", ["Abort(14) on node 2 (rank 2 in comm 0): Fatal error",
        CANCELLED, KILLED], 143, "error-text",
        "Abort(14) on node 2 (rank 2 in comm 0): Fatal error"),
    "kill -9 of a process": ("", ["srun: error: n03: task 2: Killed", CANCELLED,
        "srun: error: n01: task 0: Terminated",
        "Abort(14) on node 0 (rank 0 in comm 0): Fatal error: connection lost"], 143, "killed",
        f"n03: rank 2 was {NINE}"),
    "kill -9 of a process, Open MPI": ("",
        ["mpirun noticed that process rank 2 with PID 9 on node n03 exited on signal 9 (Killed)."],
        137, "killed", f"n03: rank 2 was {NINE}"),
    "kill -9 of a process, Hydra": (f"{BAD}\n=   EXIT CODE: 9\n", [], 9, "killed",
        f"a rank was {NINE}"),
    "kill -9 of the launcher": ("", [], -9, "killed", f"the launcher was {NINE}"),
    "scancel": ("", ["srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        CANCELLED, KILLED], 143, "killed", "cancelled with scancel"),
    "a time limit": ("",
        ["slurmstepd: error: *** JOB 17 ON n01 CANCELLED AT 10:00 DUE TO TIME LIMIT ***",
        KILLED], 143, "killed", "Slurm ended it at its time limit"),
    "no memory": ("", ["slurmstepd: error: Detected 1 oom_kill event in StepId=17.0.",
        "srun: error: n01: task 1: Out Of Memory"], 137, "killed",
        "n01: rank 1 was killed because memory ran out"),
    "a crash, then kills": ("", ["srun: error: n03: task 2: Segmentation fault (core dumped)",
        KILLED], 139, "killed", "n03: rank 2 was killed by SIGSEGV"),
    "real: scancel": ("",
        ["slurmstepd-n01: error: *** STEP 6.0 ON n01 CANCELLED AT 2026-11-22T21:52:16 ***",
        "srun: Job step aborted: Waiting up to 4 seconds for job step to finish.", KILLED], 137,
        "killed", "cancelled with scancel"),
    "real: a queued job is cancelled": ("", ["srun: job 4 queued and waiting for resources",
        "srun: Job has been cancelled",
        "srun: error: Unable to allocate resources: Job/step already completing or completed"],
        1, "killed", "cancelled with scancel"),
    "real: Slurm finds no program": ("", ["srun: error: n01: task 0: Exited with exit code 2",
        "slurmstepd-n01: error: execve(): /tmp/lu.S.x: No such file or directory",
        "srun: error: n03: task 2: Exited with exit code 2"], 2, "error-text",
        "n01: /tmp/lu.S.x not found, exit code 2"),
    "real: kill -9 of a process": ("", ["srun: error: n03: task 2: Killed",
        "srun: launch/slurm: _step_signal: Terminating StepId=3.0",
        "slurmstepd-n01: error: *** STEP 3.0 ON n01 CANCELLED AT 2026-11-22T21:51:38 ***",
        "srun: error: n04: task 3: Terminated", "srun: Force Terminated StepId=3.0"], 143,
        "killed", f"n03: rank 2 was {NINE}"),
    "a program is not executable": ("", ["bash: line 1: ./lu.S.x: Permission denied",
        "srun: error: n04: task 3: Exited with exit code 126", KILLED], 137, "error-text",
        "n04: ./lu.S.x cannot be started (Permission denied), exit code 126"),
    "a program is of another machine": ("", [f"sh: line 1: ./lu.S.x: {FORMAT}",
        "srun: error: n04: task 3: Exited with exit code 126"], 126, "error-text",
        f"n04: ./lu.S.x cannot be started ({FORMAT}), exit code 126"),
    "a library is missing": ("", [f"./lu.S.x: error while loading shared libraries: {LIBRARY}",
        "srun: error: n04: task 3: Exited with exit code 127"], 127, "error-text",
        f"n04: ./lu.S.x cannot be started ({LIBRARY}), exit code 127"),
    "a shell tells a signal": ("", ["/tmp/run: line 3: 17 Killed                  ./lu.S.x"], 1,
        "killed", f"a process was {NINE}"),
    "a program tells why it aborts": ("", ["forrtl: severe (41): no memory",
        "Aborted (core dumped)"], 134, "error-text",
        "a process was killed by SIGABRT: the output says: 'forrtl: severe (41): no memory'"),
    "nothing but memory": ("",
        ["slurmstepd-n01: error: Detected 1 oom-kill event(s) in StepId=17.0."], 0, "killed",
        "a rank was killed because memory ran out"),
    "nothing but a sign": (f"{BAD}\n", [], 0, "error-text", BAD),
    "Slurm cannot start it": ("",
        ["srun: error: Unable to create step for job 7: Invalid MPI plugin name"], 1,
        "error-text", "srun: error: Unable to create step for job 7: Invalid MPI plugin name"),
    "processes that are alone": ("This test requires at least two processes\n",
        ["srun: error: n04: task 3: Exited with exit code 1"], 1, "wrong-processes",
        "n04: rank 3 ended with exit code 1: it ran on one process"),
    "Open MPI tells an exit code": ("",
        ["mpirun detected that one or more processes exited with non-zero status, thus causing",
        "the job to be terminated. The first process to do so was:", "",
        "  Process name: [[38911,1],2]", "  Exit code:    3"], 3, "error-text",
        "rank 2 ended with exit code 3"),
}  # fmt: skip
"""Name: standard output, standard error, exit code, failure and message."""

BENCHMARKS = ("npb", "osu-alltoall", "imb-alltoall")
GOOD_OUTPUTS = [
    next(case for case in GOOD if case.plugin == plugin and not case.expected.get("stderr"))
    for plugin in PLUGINS
]


class Trusting:
    """A plugin that finds figures in everything."""

    name = "trusting"

    def parse(self, output, task):
        return BenchmarkResult((FigureOfMerit("time", 1.0, "s", "lower"),))


def texts(name):
    stdout, stderr = CASES[name][:2]
    return stdout, "".join(f"{line}\n" for line in stderr)


@pytest.mark.parametrize("name", CASES)
def test_what_failed_first_is_the_cause(name):
    code, failure, message = CASES[name][2:]
    for benchmark in ("osu-alltoall",) if failure == "wrong-processes" else BENCHMARKS:
        plugin = load("benchmark", benchmark)
        found = judge_output(plugin, RunOutput(*texts(name), code), None)
        assert (found.failure or "killed", found.reason[: len(message)]) == (failure, message)
        with pytest.raises(BenchmarkError):
            plugin.parse(RunOutput(*texts(name), code), None)


WITHOUT_MESSAGE = "kill -9 of the launcher"


@pytest.mark.parametrize("name", sorted(set(CASES) - {WITHOUT_MESSAGE}))
def test_a_file_with_both_streams_tells_it_too(name, tmp_path):
    failure, message = CASES[name][3:]
    file = tmp_path / "out.txt"
    file.write_text("".join(texts(name)))
    with pytest.raises(BenchmarkError) as error:
        parse_output("osu-alltoall", file)
    assert error.value.failure == failure
    assert str(error.value).startswith(f"{file}: {failure}: {message}")


@pytest.mark.parametrize("name", sorted(set(CASES) - {WITHOUT_MESSAGE}))
@pytest.mark.parametrize("code", [None, 0])
def test_a_report_of_failure_forbids_figures_whatever_the_plugin(name, code):
    stdout, stderr = texts(name)
    for case in GOOD_OUTPUTS:
        for good in (case.text + stdout + stderr, stdout + stderr + case.text):
            output = RunOutput(good, "", code)
            assert judge_output(Trusting(), output, None).result is None
            assert judge_output(case.benchmark(), output, case.task()).result is None
            with pytest.raises(BenchmarkError):
                case.benchmark().parse(output, case.task())


def test_a_report_is_found_in_the_middle_of_a_long_output():
    lines = "time step\n" * 200_000
    report = "srun: error: n03: task 2: Killed\n"
    found = judge_output(Trusting(), RunOutput(lines + report + lines), None)
    assert found.reason == f"n03: rank 2 was {NINE}, after figures were printed"

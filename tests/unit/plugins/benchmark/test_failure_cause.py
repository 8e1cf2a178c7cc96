"""Where a launcher or a shell reports a failure, there are no figures.

Reports are those that Slurm 22.05, Hydra 4.0 and Open MPI 4.1 print.
"""

from __future__ import annotations

import pytest
from bench_corpus import GOOD, PLUGINS

from routelab.api import BenchmarkError, BenchmarkResult, FigureOfMerit, RunOutput
from routelab.cluster.bench.parse import parse_output
from routelab.cluster.bench.run_check import judge_output

REPORTS = (
    "srun: error: n04: task 3: Exited with exit code 127\n",
    "srun: error: n03: task 2: Segmentation fault (core dumped)\n",
    "srun: error: Unable to create step for job 7: Invalid MPI plugin name\n",
    "slurmstepd: error: *** JOB 17 ON n01 CANCELLED AT 10:00 DUE TO TIME LIMIT ***\n",
    "slurmstepd-n01: error: Detected 1 oom-kill event(s) in StepId=17.0.\n",
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 9\n",
    "mpirun noticed that process rank 2 with PID 9 on node n03 exited on signal 9 (Killed).\n",
    "mpirun detected that one or more processes exited with non-zero status, thus causing\n",
    "/tmp/run: line 3: 17 Killed                  ./lu.S.x\n",
    "forrtl: severe (41): no memory\nAborted (core dumped)\n",
)
GOOD_OUTPUTS = [
    next(case for case in GOOD if case.plugin == plugin and not case.expected.get("stderr"))
    for plugin in PLUGINS
]


class Trusting:
    """A plugin that finds figures in everything."""

    name = "trusting"

    def parse(self, output, task):
        return BenchmarkResult((FigureOfMerit("time", 1.0, "s", "lower"),))


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("code", [None, 0, 1])
def test_a_report_of_failure_forbids_figures_of_any_plugin(report, code):
    for case in GOOD_OUTPUTS:
        for text in (case.text + report, report + case.text):
            output = RunOutput(text, "", code)
            assert judge_output(Trusting(), output, None).result is None
            assert judge_output(case.benchmark(), output, case.task()).result is None
            with pytest.raises(BenchmarkError):
                case.benchmark().parse(output, case.task())


def test_a_report_is_found_in_a_file_with_both_streams(tmp_path):
    file = tmp_path / "out.txt"
    file.write_text(REPORTS[0])
    with pytest.raises(BenchmarkError, match="task 3: Exited with exit code 127") as error:
        parse_output("osu-alltoall", file)
    assert error.value.failure == "error-text"


def test_a_report_is_found_in_the_middle_of_a_long_output():
    lines = "time step\n" * 200_000
    assert judge_output(Trusting(), RunOutput(lines + REPORTS[1] + lines), None).result is None

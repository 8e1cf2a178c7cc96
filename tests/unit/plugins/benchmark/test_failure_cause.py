"""Where a launcher, a batch system or a shell reports a failure, there are no figures."""

from __future__ import annotations

import textwrap

import pytest
from bench_corpus import GOOD, PLUGINS

from routelab.api import BenchmarkError, BenchmarkResult, FigureOfMerit, RunOutput
from routelab.cluster.bench.parse import parse_output
from routelab.cluster.bench.run_check import judge_output
from routelab.toolkit import launcher_reports
from routelab.toolkit.launcher_reports import find_report, remove_launcher_lines

RULE = "-" * 74
OPEN_MPI = (
    "mpirun noticed that process rank 2 with PID 9 on node n03 exited on signal 9 (Killed).",
    (
        "prterun noticed that process rank 1 with PID 4711 on node n02 exited on\n"
        "signal 11 (Segmentation fault)."
    ),
    (
        "mpiexec noticed that the job aborted, but has no info as to the process\n"
        "that caused that situation."
    ),
    "mpirun has exited due to process rank 0 with PID 17 on\nnode n01 exiting improperly.",
    'prterun has exited due to process rank 0 with PID 0 on node n01 calling\n"abort".',
    (
        "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
        "the job to be terminated."
    ),
    "Primary job  terminated normally, but 1 process returned\na non-zero exit code.",
    (
        "prterun was unable to find the specified executable file, and therefore did\n"
        "not launch the job."
    ),
    (
        "mpirun was unable to launch the specified application as it could not access\n"
        "or execute an executable:"
    ),
    "PRTE was unable to reliably start one or more daemons.\nThis usually is caused by:",
    "PRTE has lost communication with a remote daemon.",
    "ORTE has lost communication with a remote daemon.",
    "An ORTE daemon has unexpectedly failed after launch and before\ncommunicating back to mpirun.",
    "The user-provided time limit for job execution has been reached:\n\n  Timeout: 60 seconds",
    "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 1.",
    "A critical communication path was lost to:\n\n  My name:      [[1,0],0]",
    "A process exceeded memory limits:\n\n  Process name: [[1,0],0]",
)
"""Reports between lines of hyphens, as Open MPI breaks them."""
REPORTS = {
    "Open MPI": (
        *(f"{RULE}\n{text}\n{RULE}" for text in OPEN_MPI),
        "^Cmpirun: killing job...",
        "[n01:7730] *** Process received signal ***\n[n01:7730] Signal: Aborted (6)",
    ),
    "UCX": ("[n09:3326:0:3326] Caught signal 11 (Segmentation fault: address not mapped)",),
    "Slurm": (
        "srun: error: n04: task 3: Exited with exit code 127",
        "srun: error: n03: task 2: Segmentation fault (core dumped)",
        "srun: error: Unable to create step for job 7: Invalid MPI plugin name",
        "slurmstepd: error: *** JOB 17 ON n01 CANCELLED AT 10:00 DUE TO TIME LIMIT ***",
        "slurmstepd-n01: error: Detected 1 oom-kill event(s) in StepId=17.0.",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "srun: forcing job termination",
        "srun: Terminating StepId=17.0",
        "salloc: error: Node failure on n03",
        "salloc: Job 17 has exceeded its time limit and its allocation has been revoked.",
    ),
    "PBS": (
        "=>> PBS: job killed: walltime 3630 exceeded limit 3600",
        "=>> PBS: job killed: mem job total 2097152 kb exceeded limit 1048576 kb",
    ),
    "LSF": (
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "TERM_OWNER: job killed by owner.",
        "Exited with exit code 140.",
        "Exited by signal 9. The CPU time used is 0.1 seconds.",
        "Subject: Job 17: <osu> in cluster <c> Exited",
    ),
    "Flux": (
        "flux-job: task(s) exited with exit code 134",
        "flux-job: task(s) Killed",
        "261.4s: job.exception type=exec severity=0 rank 102 on host n1 exited",
        "5.7s: job.exception fDW519iTCbZ type=timeout severity=0 resource allocation expired",
        "0.377s: flux-shell[0]: FATAL: shell_init",
    ),
    "MPICH": (
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 9\n=   EXIT CODE: 9",
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Aborted (signal 6)",
        "=   EXIT CODE: 139",
        "[mpiexec@n01] HYDT_bscu_wait (bscu_wait.c:76): one of the processes terminated badly",
        "[proxy:0:1@n02] main (pm/pmiserv/pmip.c:206): demux engine error waiting for event",
    ),
    "Intel MPI": (
        "=   RANK 3 PID 1234 RUNNING AT n01\n=   KILLED BY SIGNAL: 9 (Killed)",
        "rank 0 in job 1 n01_33 caused collective abort of all ranks",
    ),
    "MVAPICH": (
        "[n1:mpi_rank_0][error_sighandler] Caught error: Segmentation fault (signal 11)",
        "[n1:mpispawn_0][child_handler] MPI process (rank: 0, pid: 7) terminated with signal 11",
    ),
    "PALS": ("n1.example.org: rank 0 died from signal 6 and dumped core",),
    "shell": (
        "/tmp/run: line 3: 17 Killed                  ./lu.S.x",
        "forrtl: severe (41): no memory\nAborted (core dumped)",
        "[1]+  Segmentation fault      ./osu_alltoall",
        "Terminated",
    ),
}
TEXTS = [f"{text}\n" for texts in REPORTS.values() for text in texts]
HARMLESS = (
    "killed",
    "Killed-n01.example.org",
    "aborted.example.org: exited on demand, signal 11 dBm",
    "job-killed-by-pbs n02 n03",
    "Loading error/1.0: Terminated modules are unloaded",
    "[1700000000.123456] [n:4157:0]   parser.c:2036 UCX  WARN  unused variable: UCX_ERROR_SIGNALS",
    "WARNING: There was an error initializing an OpenFabrics device.",
    "[n01:4157] 3 more processes have sent help message help-mpi-btl-openib.txt / error in init",
    "A process has executed an operation involving a call to the fork() system call",
    "srun: job 17 queued and waiting for resources",
    "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1",
    "salloc: Relinquishing job allocation 17",
    "Subject: Job 17: <Exited> in cluster <c> Done",
    "Terminated at Mon Oct  5 10:00:10 2026",
    "Successfully completed.",
    "flux-job: fDW519iTCbZ started",
    "0.085s: flux-shell[0]:  WARN: no affinity",
    "4.1s: job.exception type=note severity=7 rank 2 is slow",
    "[0] MPI startup(): Warning: I_MPI_PMI_LIBRARY will be ignored",
    "=   this is the banner of the centre   =",
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


@pytest.mark.parametrize("report", TEXTS)
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
    file.write_text(REPORTS["Slurm"][0] + "\n")
    with pytest.raises(BenchmarkError, match="task 3: Exited with exit code 127") as error:
        parse_output("osu-alltoall", file)
    assert error.value.failure == "error-text"


def test_a_report_is_found_in_the_middle_of_a_long_output():
    lines = "time step\n" * 200_000
    assert judge_output(Trusting(), RunOutput(lines + TEXTS[-2] + lines), None).result is None


@pytest.mark.parametrize("text", OPEN_MPI)
def test_a_report_may_be_broken_into_lines_between_any_words(text):
    words = " ".join(text.split())
    for width in range(8, len(words) + 1):
        lines = textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
        broken = f"{RULE}\n" + " \n".join(lines) + f"\n{RULE}\n"
        for case in GOOD_OUTPUTS:
            assert (
                judge_output(case.benchmark(), RunOutput(case.text + broken), None).result is None
            )


def test_a_report_is_quoted_as_one_line_and_tells_a_signal_from_an_exit_code():
    verdict = judge_output(Trusting(), RunOutput(f"4 1.0\n{OPEN_MPI[1]}\n"), None)
    assert verdict.reason == " ".join(OPEN_MPI[1].split())
    assert verdict.failure == "killed"
    assert judge_output(Trusting(), RunOutput(f"{OPEN_MPI[5]}\n"), None).failure == "error-text"


@pytest.mark.parametrize("number", range(len(launcher_reports.REPORTS)))
def test_each_text_of_the_table_is_needed_and_is_that_of_its_launcher(number, monkeypatch):
    launcher, _ = launcher_reports.REPORTS[number]
    patterns = launcher_reports._PATTERNS
    assert any(patterns[number].search(f"{text}\n") for text in REPORTS[launcher])
    monkeypatch.setattr(launcher_reports, "_PATTERNS", patterns[:number] + patterns[number + 1 :])
    lines = [text.split("\n", 1)[-1] if text.startswith("=") else text for text in TEXTS]
    assert not all(find_report(text) for text in lines)


@pytest.mark.parametrize("line", HARMLESS)
def test_names_of_hosts_and_warnings_are_no_reports(line):
    for case in GOOD_OUTPUTS:
        for text in (f"{line}\n{case.text}", f"{case.text}{line}\n"):
            verdict = judge_output(case.benchmark(), RunOutput(text), case.task())
            assert verdict.result is not None, verdict.reason
            assert verdict.result.figures == case.figures()


def test_what_a_program_printed_stays_when_lines_of_launchers_go():
    for report in TEXTS:
        if not report.startswith("forrtl"):
            rest = remove_launcher_lines(f"SUBDOMAIN\n{report}the end\n")
            assert rest.startswith("SUBDOMAIN\n")
            assert rest.endswith("the end\n")
            assert find_report(rest) is None

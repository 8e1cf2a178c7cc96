"""What the comparisons of a study need of a cluster, told before an allocation is asked for."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from routelab.cli import main
from routelab.cluster.bench.comparison import RUN_COLUMNS
from routelab.results.outcome import Outcome, write_outcome
from routelab.results.tables import write_csv
from routelab.workflow.plan.expansion import expand_studies

NODES = {"2": 2, "4": 4, "4x2": 8, "4x2x2": 16, "4x2x2x2": 32}
KERNELS = ("lu", "mg", "cg", "ft", "is")
CLUSTER = """\
launcher: srun
mpi: pmi2
partition: virtual
topology: torus~dims=4x2x2x2
hosts: n[1-32]
node_sets:
  torus~dims=2: n[1-2]
  torus~dims=4: n[1,9,17,25]
  torus~dims=4x2: n[1,5,9,13,17,21,25,29]
  torus~dims=4x2x2: n[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31]
benchmarks: {npb: /here/bin/npb}
"""
FABRIC = "fabric: {apply: [/bin/true], restore: [/bin/true], state: /here/shared}\n"


def write_study(
    dims, *benchmarks, ranks="{sweep: [1, 4]}", more="", routings="angara-bfs, angara-sssp"
):
    path = Path("config/studies/some.yaml")
    topologies = ", ".join(f'"torus~dims={text}"' for text in dims)
    path.write_text(
        f"title: Some\ntopologies: [{topologies}]\nroutings: [{routings}]\n"
        f"benchmarks: [{', '.join(benchmarks)}]\n"
        f"bench: {{cluster: big, ranks_per_node: {ranks}, predict: false{more}}}\n"
    )
    return path


def npb(version, kernels=KERNELS):
    return [
        f'{{use: "npb~kernel={kernel},class=C,version={version}", as: {kernel.upper()}}}'
        for kernel in kernels
    ]


@pytest.fixture
def big(here, slurm, program):
    """A cluster of 32 nodes with a fabric, whose Slurm answers as the test says."""
    for folder in ("config/studies", "config/clusters", "bin/npb"):
        (here / folder).mkdir(parents=True)

    def big(text=CLUSTER + FABRIC, limit="infinite"):
        slurm([f"virtual|up|32|{limit}"])
        (here / "config/clusters/big.yaml").write_text(text.replace("/here", str(here)))

    big()
    return big


@pytest.fixture
def findings(capsys):
    """What the check of the study says, by what is checked: the rows with one of some states."""

    def findings(*states, words=("--study", "some"), code=None):
        ended = main(["cluster", "check", "big", *words, "--format", "json"])
        rows = json.loads(capsys.readouterr().out)
        assert ended == (1 if any(row["state"] == "missing" for row in rows) else 0)
        return [(row["what"], row["found"]) for row in rows if not states or row["state"] in states]

    return findings


@pytest.mark.parametrize(("version", "count"), [("3.3", 35), ("3.4", 5)])
def test_npb_needs_one_program_for_each_number_of_processes_before_3_4(
    big, program, findings, version, count
):
    write_study(NODES, *npb(version))
    ranks = sorted({nodes * each for nodes in NODES.values() for each in (1, 4)})
    endings = ranks if version == "3.3" else ["x"]
    names = [f"{kernel}.C.{ending}" for kernel in KERNELS for ending in endings]
    assert len(names) == count
    missing = dict(findings("missing"))
    assert set(missing) == {f"benchmark {kernel.upper()}" for kernel in KERNELS}
    more = f" and {len(ranks) - 1} more" if version == "3.3" else ""
    assert missing["benchmark LU"].endswith(f"no {names[0]} in {Path.cwd()}/bin/npb{more}")
    for name in names:
        program(name, "exit 0", folder="bin/npb")
    assert findings("missing") == []
    Path("bin/npb", names[-1]).chmod(0o644)
    assert dict(findings("missing"))["benchmark IS"].endswith(f"{names[-1]} is not executable")


def test_numbers_of_processes_are_those_of_the_clusters_own_where_the_study_has_none(
    big, program, findings
):
    big(text=CLUSTER + FABRIC + "ranks_per_node: 2\n")
    write_study(["4x2"], *npb("3.3", ["lu"]), ranks="0")
    assert ("benchmark LU", f"benchmarks: npb: no lu.C.16 in {Path.cwd()}/bin/npb") in findings(
        "missing"
    )


SMALL = npb("3.4", ["lu"])
"""One benchmark under two routings in 6 rounds of 600 s: 120 minutes, and 10 to start."""


GAP = "fabric: nothing switches between the 2 routings: all would be measured "


def test_several_routings_need_a_fabric_that_is_switched(big, program, findings):
    program("lu.C.x", "exit 0", folder="bin/npb")
    big(text=CLUSTER)
    write_study(["4"], *SMALL, ranks="1")
    ((what, reason),) = findings("missing")
    assert what == "fabric"
    assert reason.startswith(GAP)
    write_study(["4"], *SMALL, ranks="1", routings="dor")
    assert findings("missing") == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--study", "some"),
            "this study has no measurements on a cluster; add benchmarks: and bench: ",
        ),
        (
            ("--study", "sume"),
            "study 'sume' not found: no file config/studies/sume.yaml",
        ),
        (("--study", "some", "--topology", "torus"), "leave out --benchmark and --topology"),
    ],
)
def test_a_study_that_cannot_be_checked_is_wrong_input(big, capsys, words, said):
    Path("config/studies/some.yaml").write_text(
        "title: Some\ntopologies: [torus~dims=4]\nroutings: [dor]\n"
    )
    assert main(["cluster", "check", "big", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_study_has_allocations_and_node_hours(big, findings):
    write_study(["2", "4x2"], *npb("3.3", ["lu", "ft"]), ranks="1", more=", seconds: 30")
    # 2 routings, 2 benchmarks, 6 rounds of 30 s: 12 minutes, and 10 to start
    hours = (2 + 8) * (12 + 10) / 60
    assert dict(findings())["study"] == (
        f"config/studies/some.yaml: 2 allocations, 48 runs, {hours:.1f} node-hours at most"
    )


def test_finished_runs_predict_the_duration_of_a_study(big, findings):
    study = write_study(["2", "4x2"], *npb("3.3", ["lu", "ft"]), ranks="1")
    first, _ = expand_studies([study]).of("comparisons").values()
    outcome = Outcome("comparison", "torus", provenance={"fingerprint": first.fingerprint})
    write_outcome(outcome, Path(first.folder, "outcome.json"))
    ended = [("LU", "ok", 20), ("LU", "ok", 30), ("LU", "ok", 70), ("FT", "ok", 6)]
    rows = [
        {"benchmark": benchmark, "status": status, "seconds": seconds}
        for benchmark, status, seconds in [*ended, ("FT", "timeout", 600)]
    ]
    write_csv(
        Path(first.folder, "runs.csv"),
        RUN_COLUMNS,
        [[row.get(name, "") for name in RUN_COLUMNS] for row in rows],
    )
    # 2 routings, 6 rounds of medians of 30 and 6 s
    both = (8 + 2) * 2 * 6 * (30 + 6) / 3600
    assert dict(findings())["study"].endswith(f"at most, {both:.2f} expected by the runs so far")


@pytest.mark.parametrize(
    ("limit", "enough"),
    [("2:10:00", True), ("2:09:00", False), ("130:00", True), ("1-00:00:00", True)],
)
def test_a_partition_allows_the_time_of_the_study(big, program, findings, limit, enough):
    program("lu.C.x", "", folder="bin/npb")
    big(limit=limit)
    write_study(["4"], *SMALL, ranks="1")  # 130 minutes
    assert [what for what, _ in findings("missing")] == ([] if enough else ["partition virtual"])


def test_a_study_needs_what_submits_jobs(big, program, findings, here, monkeypatch):
    program("lu.C.x", "", folder="bin/npb")
    write_study(["4"], *SMALL, ranks="1")
    assert findings("missing") == []
    monkeypatch.setitem(sys.modules, "snakemake_executor_plugin_slurm", None)
    (here / "bin/sbatch").unlink()
    needed = ["snakemake-executor-plugin-slurm", "sbatch"]
    assert [what for what, _ in findings("missing")] == needed
    # `routelab bench` needs neither
    assert findings("missing", words=("--topology", "torus~dims=4")) == []


def test_the_run_to_try_is_one_of_the_study(big, program, capsys):
    for ranks in (8, 16):
        program(f"lu.C.{ranks}", "", folder="bin/npb")
    write_study(["4x2x2", "4x2"], *npb("3.3", ["lu"]), ranks="1")
    assert main(["cluster", "check", "big", "--study", "some"]) == 0
    command = shlex.split(capsys.readouterr().out.splitlines()[-1].partition("routelab ")[2])
    assert main([*command, "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "# 1 of 1 runs are missing" in printed
    assert "--ntasks=8" in printed
    assert "lu.C.8" in printed


def lines(capsys):
    """What `routelab study check` adds to its summary; the study stays valid."""
    assert main(["study", "check", "some"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("config/studies/some.yaml: OK: ")
    place = "config/studies/some.yaml: cluster big: "
    assert all(line.startswith(place) for line in rest)
    return [line.removeprefix(place) for line in rest]


def test_the_check_of_a_study_lists_missing_parts_of_its_cluster(big, program, capsys):
    big(text=CLUSTER)
    write_study(["4"], *SMALL, ranks="1")
    printed = lines(capsys)
    assert [text.partition(":")[0] for text in printed if text.endswith("(missing)")] == [
        "fabric",
        "benchmark LU",
    ]
    big()
    program("lu.C.x", "printf ''", folder="bin/npb")
    assert lines(capsys) == ["nothing is missing"]

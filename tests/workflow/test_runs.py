"""What runs, what runs again and what does not, with a stub for the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal

import pytest

pytestmark = pytest.mark.workflow

TOPOLOGIES = ["topologies/torus~dims=4", "topologies/torus~dims=4x2"]
ROUTES = [
    f"routes/torus~dims={dims}/{routing}"
    for dims in ("4", "4x2")
    for routing in ("dor", "angara-sssp", "angara-sssp~tie_seed=1", "layered")
]
METRICS = [route.replace("routes/", "metrics/", 1) for route in ROUTES]
ITEMS = [*TOPOLOGIES, *ROUTES, *METRICS]
REPORTS = ["report/small", "report/index.html"]
WARM = ["WARM"]


def test_the_first_run_makes_everything_once(finished_run):
    assert finished_run.outputs() == sorted([*ITEMS, *REPORTS, *WARM])
    assert finished_run.outcomes() == set(ITEMS)


def test_a_second_run_has_nothing_to_do(finished):
    run = finished.run()
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout + run.stderr
    assert finished.calls() == []


def test_a_run_says_once_that_all_results_are_of_other_code(finished):
    (finished.path / "results/.plan/code").write_text("of another version")
    said = "code has changed since these results: a run computes them again"
    assert said in finished.run("--dry-run").stderr
    assert said in finished.run("-R", "page").stderr
    assert said not in finished.run().stderr


def test_failed_outcomes_are_tried_again_and_unsupported_ones_are_not(finished):
    states = ["failed", "timeout", "unsupported"]
    paths = [finished.results / route / "outcome.json" for route in ROUTES[:3]]
    for path, status in zip(paths, states, strict=True):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"status": status}))

    dry = finished.run("--dry-run")
    assert dry.returncode == 0
    assert "A run tries 2 failed or timed-out jobs again." in dry.stderr
    assert all(path.exists() for path in paths)

    finished.write("status", "timeout")
    run = finished.run()
    assert run.returncode == 0
    assert "A run tries 2 failed or timed-out jobs again." in run.stderr
    assert run.stderr.splitlines()[-6:-2] == [  # Snakemake names its log and the time behind them
        "2 of 8 route tables of small reached a limit.",
        "1 of 8 route tables of small does not apply to its network.",
        "The next run tries failed and stopped jobs again.",
        "The report is results/report/index.html: open it in a browser.",
    ]
    assert finished.outputs() == sorted([*ROUTES[:2], *REPORTS])


def test_the_results_of_a_study_are_removed_with_its_folder(finished):
    text = (finished.path / "config/studies/small.yaml").read_text()
    # the same jobs; an alias stands for another routing
    finished.write(
        "config/studies/other.yaml",
        text.replace("p-sssp@unrestricted@cycle-breaking", "angara-sssp~tie_seed=7"),
    )
    both = ("report", "--config", "studies=small,other")
    outputs = finished.ran(*both)
    jobs = [f"other/{name}" for name in ITEMS]
    assert outputs == sorted([*jobs, "report/other", "report/index.html"])
    shutil.rmtree(finished.path / "results/other")
    assert finished.ran(*both) == outputs


def test_every_file_of_the_distributions_of_a_plugin_counts(folder):
    """A table said 24 where 32 was true: a second package of the distribution was edited."""
    site = folder.path.parent / "site"
    origin = '{"url": "file:///helper", "dir_info": {"editable": true}}'
    metadata = "Metadata-Version: 2.1\nName: {}\nVersion: 1\n"
    files = {
        "extra_routing/__init__.py": "import helper\n"
        "from routelab.api import RoutingPlugin\n"
        "from second import NUMBER\n\n\n"
        "class Extra(RoutingPlugin):\n"
        "    name = 'extra'\n"
        "    summary = 'Routes nothing'\n\n"
        "    def route(self, topology):\n"
        "        raise NotImplementedError\n",
        "extra_routing/table.csv": "1,2\n",
        "second/__init__.py": "NUMBER = 24\n",
        "helper/__init__.py": "",
        "extra_routing-1.dist-info/METADATA": metadata.format("extra-routing"),
        "extra_routing-1.dist-info/entry_points.txt": "[routelab.routing]\n"
        "extra = extra_routing:Extra\n",
        "helper-1.dist-info/METADATA": metadata.format("helper"),
        "helper-1.dist-info/direct_url.json": origin,
        "helper-1.dist-info/top_level.txt": "helper\n",
    }
    own_files = [name for name in files if name.startswith(("extra", "second"))]
    files["extra_routing-1.dist-info/RECORD"] = "".join(f"{name},,\n" for name in own_files)
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    folder.env["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    folder.write(
        "config/studies/small.yaml",
        "title: t\ntopologies: [torus~dims=4]\nroutings: [dor, extra]\n",
    )
    folder.ran()
    jobs = [f"{stage}/torus~dims=4/extra" for stage in ("routes", "metrics")]
    for name in ("second/__init__.py", "extra_routing/table.csv", "helper/__init__.py"):
        with (site / name).open("a") as file:
            file.write("# 32\n")
        outputs = folder.ran()
        # kernels of the plugin, if it has any, are compiled again
        assert [path for path in outputs if path not in WARM] == sorted([*jobs, *REPORTS]), name


def test_a_changed_input_file_runs_its_dependents_again(folder):
    net = folder.write("config/studies/net.txt", "a b\nb c\n")
    folder.write(
        "config/studies/small.yaml",
        'title: t\ntopologies: [torus~dims=4, {use: "graph~file=net.txt", as: net}]\n'
        "routings: [dfsssp]\n",
    )
    folder.ran()
    net.write_text("a b\nb c\nc a\n")
    assert folder.ran() == sorted(
        ["topologies/net", "routes/net/dfsssp", "metrics/net/dfsssp", *REPORTS]
    )


def test_after_a_kill_only_missing_jobs_run(folder):
    (folder.path / "wait").write_text("1")
    run = folder.start()
    folder.wait_for(lambda: len(folder.outcomes() & set(ROUTES)) >= 1, run)
    folder.wait_for(lambda: bool(set(folder.jobs()) & set(ROUTES) - folder.outcomes()), run)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert not (folder.path / "results/report/small/index.html").exists()

    finished_before = folder.outcomes()
    (folder.path / "wait").unlink()
    outputs = folder.ran()
    # also of batches that were interrupted, only the jobs that had no outcome
    missing = set(ITEMS) - finished_before
    assert sorted(set(outputs) - set(REPORTS)) == sorted(missing)
    assert folder.outcomes() == set(ITEMS)


def test_a_second_run_in_the_folder_gets_one_clear_line(folder):
    (folder.path / "wait").touch()
    first = folder.start()
    folder.wait_for(lambda: any(job in ROUTES for job in folder.jobs()), first)

    code, lines = beside(folder)
    assert code == 1
    assert lines[-1] == (
        f"another run (process {first.pid} on {os.uname().nodename}) is working in results;"
        " wait until it ends, or stop it"
    )
    assert not any("Traceback" in line or "Job stats" in line for line in lines)
    assert beside(folder, "--dry-run")[0] == 0
    assert beside(folder, "--summary")[0] == 0

    (folder.path / "wait").unlink()
    output, _ = first.communicate(timeout=120)
    assert first.returncode == 0, output
    assert folder.outputs() == sorted([*ITEMS, *REPORTS, *WARM])


def beside(folder, *arguments):
    """Exit code and output of a run while another one is going on; calls stay noted."""
    run = folder.snakemake.run(folder.arguments(*arguments), folder.path, folder.env)
    return run.returncode, (run.stdout + run.stderr).splitlines()

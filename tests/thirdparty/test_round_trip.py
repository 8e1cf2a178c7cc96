"""A stranger's packages, from `plugins new` to a report, then upgraded.

Everything is as it would be for the stranger: a fresh virtual environment, pip, the command line
and Snakemake. Only what routelab depends on is taken from the environment of this test, so that
nothing is downloaded, and kernels that were compiled before are used. One package has an engine
and a statistic with columns that nothing of routelab knows.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest
from installed_in_place import write_metadata

from routelab.commands.plugins.package import HOP_BY_HOP, SUMMARIES, make_new_plugin, write_package
from routelab.report.changes import COMPUTING_TIMES

ROOT = Path(__file__).parents[2]
QUEUEING = Path(__file__).parent / "queueing"

pytestmark = pytest.mark.thirdparty

pytest.importorskip("hatchling", reason="installing without a download needs hatchling")
pytest.importorskip("editables", reason="installing without a download needs editables")

STUDY = """\
title: A stranger's packages beside routelab
topologies: [torus~dims=4x2]
routings: [my-tree, "my-walk@angara"]
traffic: [uniform]
simulation: {engine: queueing, loads: [0.1, 0.4]}
metrics: [channel-load, load-gini]
tables:
  loads: {rows: [routing], values: [max_load, max_hops, load_gini]}
  delays: {of: loads, rows: [routing, load], values: [queue_latency, busiest_share]}
figures:
  delays: {of: loads, kind: line, x: load, y: queue_latency, hue: routing}
"""
WRONG = STUDY.replace("[queue_latency,", "[queue_latencies,").replace("load_gini]", "load_ginny]")

MINE, OTHER = "torus~dims=4x2/my-tree", "torus~dims=4x2/my-walk@angara"


@dataclass
class Stranger:
    """Somebody with a virtual environment, some packages and a folder with studies."""

    home: Path

    def do(self, *command: str | Path, folder: str = "", code: int = 0) -> str:
        """Return what a command of the environment prints."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
        env = kept | {
            "PATH": f"{self.home / 'venv/bin'}{os.pathsep}{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as: no isolation
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "VENV": str(self.home / "venv"),
        }
        run = subprocess.run(
            command, cwd=self.home / folder, env=env, capture_output=True, text=True
        )
        assert run.returncode == code, run.stdout + run.stderr
        return run.stdout if code == 0 else run.stderr

    def routelab(self, *words: str, code: int = 0) -> str:
        return self.do(self.home / "venv/bin/routelab", *words, folder="project", code=code)

    def install(self, *packages: str | Path) -> None:
        python = self.home / "venv/bin/python"
        self.do(python, "-m", "pip", "install", "--quiet", "--no-deps", *packages)

    def report(self) -> Path:
        """The folder of the study's report, after a run of the workflow."""
        snakemake = [self.home / "venv/bin/python", "-m", "snakemake", "--quiet", "host", "rules"]
        where = ["--snakefile", ROOT / "Snakefile", "--cores", "2", "report"]
        self.do(*snakemake, *where, folder="project")
        return self.home / "project/results/report/mine"

    def outcomes(self) -> dict[str, dict]:
        """Outcomes of all routings by their folder, with the time they were written."""
        routes = self.home / "project/results/mine/routes"
        return {
            str(path.parent.relative_to(routes)): json.loads(path.read_text())
            | {"written": path.stat().st_mtime_ns}
            for path in sorted(routes.glob("*/*/outcome.json"))
        }


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """An environment with routelab from this checkout, and three packages.

    A complete algorithm made on the command line, a selection, and a wheel with engine and metric.
    """
    stranger = Stranger(tmp_path_factory.mktemp("stranger"))
    venv.create(stranger.home / "venv", with_pip=False, symlinks=True)
    # by its name, what is in it counts as installed: kernels do not depend on its sources
    others = stranger.home / "others/site-packages"
    others.mkdir(parents=True)
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if "routelab" not in path.name.lower() and path.suffix != ".pth":
                (others / path.name).symlink_to(path)
    (site,) = (stranger.home / "venv/lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"{others}\n")
    write_package(make_new_plugin("selection", "my-walk"), stranger.home / "routelab-my-walk")
    stranger.install("--editable", ROOT, "--editable", "routelab-my-walk", QUEUEING)
    stranger.do("venv/bin/routelab", "plugins", "new", "routing", "my-tree")
    (stranger.home / "project/config/studies").mkdir(parents=True)
    (stranger.home / "project/config/studies/mine.yaml").write_text(STUDY)
    (stranger.home / "project/config/config.yaml").write_text("studies: [mine]\n")
    (stranger.home / "project/wrong.yaml").write_text(WRONG)
    # installs, checks and tests it
    stranger.do("./ci.sh", folder="routelab-my-tree")
    return stranger


@pytest.fixture(scope="module")
def first(stranger: Stranger) -> tuple[Path, dict[str, dict]]:
    """Report and outcomes of the first run."""
    return stranger.report(), stranger.outcomes()


def rows(report: Path, table: str) -> list[dict[str, str]]:
    with (report / f"tables/{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_plugins_are_listed_with_their_distributions(stranger):
    listed = stranger.routelab("plugins", "list")
    for key, folder in (
        ("my-tree", stranger.home / "routelab-my-tree"),
        ("my-walk", stranger.home / "routelab-my-walk"),
        ("load-gini", QUEUEING),
    ):
        (line,) = [line for line in listed.splitlines() if f" {key} " in line]
        # one of them is upgraded by a test
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        assert line.split()[2:5] == [project["name"], project["version"], "ok"]


@pytest.mark.parametrize("name", ["engine/queueing", "metric/load-gini"])
def test_a_wheel_passes_the_conformance_kit(stranger, name):
    printed = stranger.routelab("plugins", "check", name)
    assert "failed" not in printed.lower().replace("0 failed", "")


def test_the_engine_is_on_the_command_line(stranger):
    command = ("simulate", "torus~dims=4x4", "dor", "uniform", "--engine", "queueing")
    result = json.loads(stranger.routelab(*command, "--format", "json"))
    assert result["engine"] == "queueing"
    # 16 terminals on a torus of 64 channels: mean distance 32/15, no ties that are unbalanced
    assert result["busiest_share"] == pytest.approx(0.3 * 16 * (32 / 15) / 64)
    assert result["queue_latency"] > 2


def test_study_check_knows_its_columns(stranger):
    printed = stranger.routelab("study", "check", "wrong.yaml", code=2)
    assert "tables.loads.values: no column 'load_ginny'; did you mean 'load_gini'?" in printed
    assert "no column 'queue_latencies'; did you mean 'queue_latency'?" in printed


def test_the_list_of_columns_has_its_columns(stranger):
    listed = stranger.routelab("plugins", "columns", "--format", "csv")
    assert "\nload_gini," in listed
    assert "Gini coefficient of the channel loads: 0 if all are equal" in listed
    assert "\nqueue_latency," in listed


def test_a_study_uses_a_plugin_by_its_name_and_in_a_composition(first):
    report, outcomes = first
    assert set(outcomes) == {MINE, OTHER}
    for outcome in outcomes.values():
        assert (outcome["status"], outcome["facts"]["deadlock"]) == ("ok", "proven")
    (my_tree,) = [
        plugin for plugin in outcomes[MINE]["provenance"]["plugins"] if plugin["kind"] == "routing"
    ]
    assert (my_tree["distribution"], my_tree["version"]) == ("routelab-my-tree", "0.1")
    mixed = outcomes[OTHER]["provenance"]["plugins"]
    assert {"routelab-my-walk", "routelab"} <= {plugin["distribution"] for plugin in mixed}
    loads = {row["routing"]: float(row["max_load"]) for row in rows(report, "loads")}
    # a tree of eight switches: the link that cuts it in two halves carries 4 x 4 pairs or less
    assert set(loads) == {"my-tree", "my-walk@angara"}
    assert 7 <= loads["my-tree"] <= 16
    page = (report / "index.html").read_text().replace("<wbr>", "")  # where a line may break
    assert "my-walk@angara" in page


def test_the_report_shows_columns_and_works_of_a_package(first):
    report, _ = first
    page = (report / "index.html").read_text()
    assert "inequality of loads" in page
    assert "latency by queueing theory (cycles)" in page
    delays = rows(report, "delays")
    assert len(delays) == 2 * 2
    assert all(float(row["queue_latency"]) > 2 for row in delays)
    assert (report / "figures/delays.svg").is_file()
    assert "Kleinrock, Leonard. Queueing Systems, Volume I: Theory. Wiley, 1975" in page
    assert "<code>engine/queueing</code>: the queue M/D/1" in page


def test_an_upgrade_makes_exactly_its_results_again(stranger, first):
    _, before = first
    project = stranger.home / "routelab-my-tree/pyproject.toml"
    project.write_text(project.read_text().replace('version = "0.1"', 'version = "0.2"'))
    stranger.install("--editable", "routelab-my-tree")
    stranger.report()
    upgraded = stranger.outcomes()
    assert set(upgraded) == set(before)
    for path, outcome in upgraded.items():
        again = outcome["written"] != before[path]["written"]
        changed = outcome["provenance"]["fingerprint"] != before[path]["provenance"]["fingerprint"]
        assert (again, changed) == (path == MINE, path == MINE), path
        facts = {
            name: value for name, value in outcome["facts"].items() if name not in COMPUTING_TIMES
        }
        assert facts.items() <= before[path]["facts"].items()
    assert upgraded[MINE]["provenance"]["plugins"][0]["version"] == "0.2"


@pytest.mark.thorough
def test_new_packages_of_all_kinds_pass_their_own_tests(tmp_path):
    folders = []
    for template in SUMMARIES:
        hops = template == HOP_BY_HOP
        new = make_new_plugin("routing" if hops else template, f"our-{template}", hop_by_hop=hops)
        folders.append(write_package(new, tmp_path / new.distribution))
        write_metadata(folders[-1], tmp_path / "site")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "--rootdir=."]
        + [f"{folder.name}/tests" for folder in folders],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [tmp_path / "site", *folders]))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) >= 2 * len(folders)

"""A stranger's wheel with an engine and a statistic: nothing of routelab knows their columns.

They appear on the command line, in `study check`, in the report and on the reference page.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "queueing"

pytestmark = [pytest.mark.thirdparty, pytest.mark.builtins]

pytest.importorskip("hatchling", reason="building without a download needs hatchling")
pytest.importorskip("editables", reason="installing without a download needs editables")

STUDY = """\
title: A stranger's engine and statistic
topologies: [torus~dims=4x4]
routings: [dor, sssp@angara]
traffic: [uniform]
simulation: {engine: queueing, loads: [0.1, 0.4]}
metrics: [channel-load, load-gini]
tables:
  loads: {rows: [routing], values: [load_gini, max_load]}
  delays: {of: loads, rows: [routing, load], values: [queue_latency, busiest_share]}
figures:
  delays: {of: loads, kind: line, x: load, y: queue_latency, hue: routing}
"""

WRONG = STUDY.replace("[queue_latency,", "[queue_latencies,").replace("[load_gini,", "[load_ginny,")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """Run commands of an environment with routelab and the wheel."""
    home = tmp_path_factory.mktemp("stranger")
    venv.create(home / "venv", with_pip=False, symlinks=True)
    (home / "others").mkdir()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if "routelab" not in path.name.lower() and path.suffix != ".pth":
                (home / "others" / path.name).symlink_to(path)
    (site,) = (home / "venv/lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"{home / 'others'}\n")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    env = kept | {
        "PATH": f"{home / 'venv/bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as: no isolation
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }

    def do(*command, code=0, stream=None):
        run = subprocess.run(
            [str(home / "venv/bin" / command[0]), *map(str, command[1:])],
            cwd=home,
            env=env,
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert run.returncode == code, run.stdout + run.stderr
        return getattr(run, stream or ("stdout" if code == 0 else "stderr"))

    pip = ("python", "-m", "pip")
    do(*pip, "install", "--quiet", "--no-deps", "--editable", ROOT)
    do(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", home / "wheels", PROJECT)
    (wheel,) = (home / "wheels").glob("routelab_queueing-0.1-*.whl")
    do(*pip, "install", "--quiet", "--no-deps", wheel)
    (home / "config/studies").mkdir(parents=True)
    (home / "config/studies/own.yaml").write_text(STUDY)
    (home / "config/config.yaml").write_text("studies: [own]\n")
    (home / "wrong.yaml").write_text(WRONG)
    do.home = home
    return do


def test_the_checks_of_the_conformance_kit_pass(stranger):
    for name in ("engine/queueing", "metric/load-gini"):
        told = stranger("routelab", "plugins", "check", name)
        assert "failed" not in told.lower().replace("0 failed", "")


def test_the_statistic_is_on_the_command_line(stranger):
    text = stranger(
        *("routelab", "evaluate", "torus~dims=4x4", "dor", "sssp@angara"),
        *("--metrics", "load-gini", "--format", "csv"),
    )
    rows = list(csv.DictReader(text.splitlines()))
    assert [float(row["load_gini"]) for row in rows] == pytest.approx([0, 0], abs=0.4)


def test_the_engine_is_on_the_command_line(stranger):
    command = ("routelab", "simulate", "torus~dims=4x4", "dor", "uniform", "--engine", "queueing")
    found = json.loads(stranger(*command, "--format", "json"))
    assert found["engine"] == "queueing"
    # 16 terminals on a torus of 64 channels: mean distance 32/15, no ties that are unbalanced
    assert found["busiest_share"] == pytest.approx(0.3 * 16 * (32 / 15) / 64)
    assert "queue_latency" in stranger(*command)


def test_study_check_knows_its_columns(stranger):
    assert ": OK: " in stranger("routelab", "study", "check", "config/studies/own.yaml")
    told = stranger("routelab", "study", "check", "wrong.yaml", code=2)
    assert "tables.loads.values: no column 'load_ginny'; did you mean 'load_gini'?" in told
    assert "no column 'queue_latencies'; did you mean 'queue_latency'?" in told


def test_the_report_shows_it_under_its_heading(stranger):
    stranger(
        *("python", "-m", "snakemake", "--quiet", "host", "rules"),
        *("--snakefile", ROOT / "Snakefile", "--cores", "2", "report"),
        *("--config", "studies=own"),
    )
    report = stranger.home / "results/report/own"
    page = (report / "index.html").read_text()
    assert "inequality of loads" in page
    assert "latency by queueing theory (cycles)" in page
    with (report / "tables/delays.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert all(float(row["queue_latency"]) > 2 for row in rows)
    assert (report / "figures/delays.svg").is_file()


def test_its_bibliography_is_in_the_wheel_and_its_work_is_shown(stranger):
    told = stranger("routelab", "plugins", "show", "engine/queueing")
    assert "[kleinrock1975] Kleinrock, Leonard. Queueing Systems" in told
    report = stranger.home / "results/report/own"
    page = (report / "index.html").read_text()
    assert "<cite>Queueing Systems, Volume I: Theory</cite>. Wiley, 1975." in page
    assert "<code>engine/queueing</code>: the queue M/D/1" in page
    # beside those of the built-in plugins, with its own fields
    written = (report / "references.bib").read_text()
    assert "@book{kleinrock1975,\n" in written
    assert "  publisher = {Wiley}" in written
    assert "@misc{mukosey2020,\n" in written


def test_a_key_that_it_does_not_have_fails_the_check(stranger):
    (file,) = (stranger.home / "venv/lib").glob("python*/site-packages/routelab_queueing/*.bib")
    text = file.read_text()
    file.write_text(text.replace("kleinrock1975", "kleinrock1976"))
    told = stranger("routelab", "plugins", "check", "engine/queueing", code=1, stream="stdout")
    file.write_text(text)
    said = f"engine/queueing cites 'kleinrock1975', which is not in {file}"
    assert f"{said}; did you mean 'kleinrock1976'?" in " ".join(told.split())


def test_the_reference_page_has_it(stranger):
    page = stranger("routelab", "plugins", "columns", "--format", "markdown")
    assert "| `load_gini` | Gini coefficient of the channel loads: 0 if all are equal |" in page
    assert "| `queue_latency` | mean latency of a packet if every channel" in page


def test_nothing_of_routelab_names_it():
    found = subprocess.run(
        ["grep", "-rlE", "load_gini|queue_latency", str(ROOT / "src"), str(ROOT / "plugins")],
        capture_output=True,
        text=True,
    )
    assert [path for path in found.stdout.splitlines() if not path.endswith(".pyc")] == []

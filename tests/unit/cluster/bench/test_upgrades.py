"""An upgrade loses no measurement, and repeats none that it would launch in the same way.

The launcher of these tests counts what it launches.
"""

import json

import pytest

from routelab.api import BenchmarkError, InputError
from routelab.cluster.bench import plan, store
from routelab.cluster.bench.environment import relevant_variables
from routelab.cluster.bench.results import collect
from routelab.cluster.bench.session import SessionEnd
from routelab.results.json_files import load_sealed, write_json

OTHER = """
import os
if os.environ["PMI_RANK"] == "0":
    print("time 9.0 s")
"""


@pytest.fixture
def measured(site, tmp_path):
    """A site with a finished comparison of 12 runs, whose launches are counted from now on."""
    launched = tmp_path / "launched"
    program = tmp_path / "mpiexec"
    program.write_text(
        program.read_text().replace("shift; size", f"echo >> {launched}; shift; size")
    )
    assert site.session().measure().done == 12
    launched.unlink()
    site.launched = launched
    return site


def upgrade_program(site, monkeypatch):
    """The program of a benchmark that comes with routelab changes."""
    site.scripts = dict.fromkeys(site.scripts, OTHER)


def upgrade_record(site, monkeypatch):
    """Records have a new format."""
    monkeypatch.setattr(store, "FORMAT", "bench-run/2")
    monkeypatch.setattr(store, "READABLE", ("bench-run/2", *store.READABLE))


def test_an_upgrade_launches_nothing_and_keeps_all_values(measured, monkeypatch):
    before = collect(measured.session(), SessionEnd()).figures
    upgrade_record(measured, monkeypatch)
    session = measured.session()
    assert session.measure() == SessionEnd()
    assert not measured.launched.exists()
    assert collect(session, SessionEnd()).figures == before


def test_another_launch_is_measured_beside_the_earlier_runs(measured, monkeypatch):
    upgrade_program(measured, monkeypatch)
    session = measured.session()
    assert session.measure().done == 12
    assert {row["value"] for row in collect(session, SessionEnd()).figures} == {9.0}
    assert len(list(session.store.folder.glob("*/run.json"))) == 24


def test_unparsable_earlier_outputs_are_not_measured_again(measured, monkeypatch):
    def parse(self, output, task):
        raise BenchmarkError("no-result", "the output is unknown")

    benchmark = type(measured.session().plan.benchmarks["one"])
    monkeypatch.setattr(benchmark, "parse", parse)
    session = measured.session()
    assert session.measure() == SessionEnd()
    assert not measured.launched.exists()
    assert {row["status"] for row in collect(session, SessionEnd()).runs} == {"failed"}


def test_records_of_a_newer_version_are_neither_repeated_nor_lost(measured):
    record = next((measured.folder / "runs").glob("*/run.json"))
    write_json(record, load_sealed(record.read_bytes()) | {"format": "bench-run/9"})
    with pytest.raises(InputError, match=r"has format bench-run/9.*update routelab"):
        measured.session()
    assert json.loads(record.read_text())["format"] == "bench-run/9"


FIXED = """\
launcher: srun
program: {program}
hosts: n[1-2]
environment: {{UCX_TLS: rc}}
fabric: {{{use}apply: [load, "{{folder}}"], restore: [unload]}}
"""


@pytest.mark.parametrize("use", ["", "use: command, "])
def test_the_fingerprint_of_a_measurement_never_changes(site, tmp_path, monkeypatch, use):
    """If this fails, the next version would measure everything again."""
    for name in relevant_variables():
        monkeypatch.delenv(name)
    monkeypatch.setattr(plan, "_file_digests", {})
    for name in ("srun", "program"):
        (tmp_path / name).write_text(f"fixed content of {name}\n")
    (tmp_path / "test.yaml").write_text(FIXED.format(program=tmp_path / "srun", use=use))
    site.scripts = {"one": OTHER}
    planned = site.session(hosts=("n1", "n2"), executable=tmp_path / "program").plan
    run = next(run for run in planned.runs if (run.routing.text, run.round) == ("angara-sssp", 1))
    assert run.fingerprint == "96e2bee9fbb14c30f947de31ff1c42781ad807f234156884ed835acd9366d2a1"

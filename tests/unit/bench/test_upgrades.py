"""An upgrade neither repeats nor loses a measurement.

The launcher of these tests counts what it launches.
"""

import json
import logging

import pytest

from routelab.api import BenchmarkError, InputError
from routelab.artifacts.outcome import read_outcome
from routelab.artifacts.tables import read_rows
from routelab.bench import plan, store
from routelab.bench.circumstances import relevant_variables
from routelab.bench.launchers import Launcher
from routelab.bench.results import collect
from routelab.bench.session import SessionEnd
from routelab.commands.bench import comparison as command
from routelab.stages.bench.comparison import ComparisonSession, run_comparison

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


def upgrade_routes(site, monkeypatch):
    """The algorithms make other routes."""
    monkeypatch.setattr(plan, "_digest", lambda table: "0" * 64)


def upgrade_launcher(site, monkeypatch):
    """The launcher gets another option."""
    before = Launcher._mpiexec
    monkeypatch.setattr(Launcher, "_mpiexec", lambda self, name: (*before(self, name), "-q"))


def upgrade_record(site, monkeypatch):
    """Records have a new format."""
    monkeypatch.setattr(store, "FORMAT", "bench-run/2")
    monkeypatch.setattr(store, "READABLE", ("bench-run/2", *store.READABLE))


@pytest.mark.parametrize(
    ("upgrade", "kept"),
    [(upgrade_program, 12), (upgrade_routes, 12), (upgrade_launcher, 12), (upgrade_record, 0)],
)
def test_an_upgrade_launches_nothing_and_keeps_all_values(measured, monkeypatch, upgrade, kept):
    before = collect(measured.session(), SessionEnd()).figures
    upgrade(measured, monkeypatch)
    session = measured.session()
    assert session.missing() == []
    assert len(session.kept) == kept
    assert session.measure() == SessionEnd()
    assert not measured.launched.exists()
    collected = collect(session, SessionEnd())
    assert collected.figures == before
    assert collected.facts["kept"] == kept
    assert len(list(session.store.folder.glob("*/run.json"))) == 12


def test_what_this_version_can_no_longer_parse_is_not_measured_again(measured, monkeypatch):
    def parse(self, output, task):
        raise BenchmarkError("no-result", "the output is unknown")

    benchmark = type(measured.session().plan.benchmarks["one"])
    monkeypatch.setattr(benchmark, "parse", parse)
    session = measured.session()
    assert session.measure() == SessionEnd()
    assert not measured.launched.exists()
    assert {row["status"] for row in collect(session, SessionEnd()).runs} == {"failed"}


def test_measuring_again_is_possible_and_keeps_the_earlier_runs(measured, monkeypatch, tmp_path):
    folder = tmp_path / "tables"

    def run(**options):
        session = measured.session(**options)
        run_comparison(ComparisonSession(session.plan, session, ()), folder)
        return {row["value"] for row in read_rows(folder / "figures.csv", ())}

    assert run() == {1.5}
    upgrade_program(measured, monkeypatch)
    assert run() == {1.5}
    assert run(measure_again=True) == {9.0}
    aside = tmp_path / "tables-kept-1"
    assert {row["value"] for row in read_rows(aside / "figures.csv", ())} == {1.5}
    assert len(list((tmp_path / "runs").glob("*/run.json"))) == 24
    # from now on the new runs are the results, and asking again launches nothing
    launches = measured.launched.read_text()
    assert run() == run(measure_again=True) == {9.0}
    assert measured.launched.read_text() == launches
    assert read_outcome(folder / "outcome.json").facts["kept"] == 0


def test_runs_of_two_versions_are_not_mixed(measured, monkeypatch):
    upgrade_routes(measured, monkeypatch)
    measured.settings["repeats"] = 3
    with pytest.raises(
        InputError, match=r"angara-bfs, told~name=\w+: 3 of 4 runs .*--measure-again"
    ):
        measured.session()
    assert len(measured.session(measure_again=True).missing()) == 8
    # a further benchmark has no earlier runs
    measured.settings["repeats"] = 2
    measured.scripts["three"] = OTHER
    assert measured.session().measure().done == 6


@pytest.mark.parametrize("change", ["routing", "environment", "network"])
def test_another_question_has_no_earlier_answer(measured, monkeypatch, change):
    upgrade_routes(measured, monkeypatch)
    topology = "torus~dims=2"
    if change == "routing":
        measured.routings = ("angara-bfs", "dor")
    elif change == "environment":
        (measured.folder / "test.yaml").write_text(
            (measured.folder / "test.yaml").read_text() + "environment: {UCX_TLS: rc}\n"
        )
    else:
        topology = "mesh~dims=2"
    new = 6 if change == "routing" else 12
    assert sum(len(turn.runs) for turn in measured.session(topology).missing()) == new


def test_records_of_a_newer_version_are_neither_repeated_nor_lost(measured):
    record = next((measured.folder / "runs").glob("*/run.json"))
    record.write_text(record.read_text().replace("bench-run/1", "bench-run/9"))
    with pytest.raises(InputError, match=r"has format bench-run/9.*update routelab"):
        measured.session()
    assert json.loads(record.read_text())["format"] == "bench-run/9"


FIXED = """\
launcher: srun
program: {program}
hosts: n[1-2]
environment: {{UCX_TLS: rc}}
fabric: {{use: command, apply: [load, "{{folder}}"], restore: [unload]}}
"""


def test_the_fingerprint_of_a_measurement_never_changes(site, tmp_path, monkeypatch):
    """If this fails, the next version would measure everything again."""
    for name in relevant_variables():
        monkeypatch.delenv(name)
    monkeypatch.setattr(plan, "_contents", {})
    for name in ("srun", "program"):
        (tmp_path / name).write_text(f"fixed content of {name}\n")
    (tmp_path / "test.yaml").write_text(FIXED.format(program=tmp_path / "srun"))
    site.scripts = {"one": OTHER}
    made = site.session(hosts=("n1", "n2"), executable=tmp_path / "program").plan
    run = next(run for run in made.runs if (run.routing.text, run.round) == ("angara-sssp", 1))
    assert run.fingerprint == "96e2bee9fbb14c30f947de31ff1c42781ad807f234156884ed835acd9366d2a1"
    assert run.question == "8d534b18f8784a04aa55b19195f4c2e7f186c86768a38751c8d35ae71f999df9"


def test_kept_runs_are_announced(measured, monkeypatch, caplog):
    upgrade_program(measured, monkeypatch)
    session = measured.session()
    with caplog.at_level(logging.WARNING):
        command._warn(ComparisonSession(session.plan, session, ()))
    assert "12 stored runs were measured with other routes or commands" in caplog.text
    assert "--measure-again" in caplog.text

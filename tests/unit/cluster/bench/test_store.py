"""Raw runs are kept whole or not at all, and never lost."""

import json

import pytest

from routelab.api import InputError
from routelab.cluster.bench.store import STDERR, STDOUT, RawRun, RunStore, fingerprint_of

IDENTITY = {"arguments": ["mpiexec", "-n", "4"], "round": 1}
NAME = fingerprint_of(IDENTITY)


def run(folder, exit_code=0, out=b"hello\n"):
    (folder / STDOUT).write_bytes(out)
    (folder / STDERR).write_bytes(b"")
    return RawRun(
        NAME, IDENTITY, "ended", exit_code, "", 1.5, "2026-11-22T00:00:00+00:00", "17",
        ["mpiexec", "-n", "4"], "session-1", 1, {"versions": {}}, folder,
    )  # fmt: skip


def test_a_kept_run_is_found_with_its_output(tmp_path):
    store = RunStore(tmp_path / "runs")
    folder = store.create_folder(NAME, {"sizes.txt": "4096\n"})
    assert store.find(NAME) is None
    kept = store.save(run(folder, out=b"1 \xff 2\n"))
    stored = RunStore(tmp_path / "runs").find(NAME)
    assert stored == kept
    assert stored.output().stdout == "1 � 2\n"
    assert (stored.folder / "sizes.txt").read_text() == "4096\n"
    assert [entry.name for entry in store.folder.iterdir()] == [NAME]


def test_an_earlier_run_stays_beside_the_new_one(tmp_path):
    store = RunStore(tmp_path)
    for number in range(3):
        store.save(run(store.create_folder(NAME, {}), exit_code=number))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [NAME, f"{NAME}.1", f"{NAME}.2"]
    assert store.find(NAME).exit_code == 2
    assert json.loads((tmp_path / f"{NAME}.1/run.json").read_text())["exit_code"] == 0


def test_killed_runs_start_again(tmp_path):
    store = RunStore(tmp_path)
    (store.create_folder(NAME, {}) / "left").write_text("half")
    assert store.find(NAME) is None
    assert not (store.create_folder(NAME, {}) / "left").exists()
    store.discard(NAME)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_counts_as_none(tmp_path):
    store = RunStore(tmp_path)
    kept = store.save(run(store.create_folder(NAME, {})))
    (kept.folder / "run.json").write_text('{"format": "bench-run/1", "finger')
    assert store.find(NAME) is None
    (kept.folder / "run.json").write_text('{"format": "bench-run/1", "new": 1}')
    assert store.find(NAME) is None


def test_the_fingerprint_is_of_all_that_is_launched():
    assert fingerprint_of(dict(reversed(IDENTITY.items()))) == NAME
    assert fingerprint_of({**IDENTITY, "round": 2}) != NAME


def test_output_that_was_changed_is_refused_and_kept(tmp_path):
    kept = RunStore(tmp_path).save(run(RunStore(tmp_path).create_folder(NAME, {}), out=b"4 1.25\n"))
    (kept.folder / STDOUT).write_bytes(b"4 1.35\n")
    stored = RunStore(tmp_path).find(NAME)
    with pytest.raises(InputError, match=r"stdout\.txt is damaged: .*restore it"):
        stored.output()
    assert (kept.folder / STDOUT).read_bytes() == b"4 1.35\n"


def test_a_changed_record_counts_as_none(tmp_path):
    kept = RunStore(tmp_path).save(run(RunStore(tmp_path).create_folder(NAME, {})))
    record = kept.folder / "run.json"
    record.write_text(record.read_text().replace("1.5", "2.5"))
    assert RunStore(tmp_path).find(NAME) is None

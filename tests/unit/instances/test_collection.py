"""The instances of the repository, their entries, and the commands that make and compare them."""

from __future__ import annotations

import csv
import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from routelab.api import InputError, UnsupportedError
from routelab.cli import main
from routelab.instances.best import COLUMNS, best_rows, write_tables
from routelab.instances.collection import Collection
from routelab.instances.entries import DifferentError, add_entry, installed_routings, make_entry
from routelab.routing.prove import prove_routes

ROOT = Path(__file__).parents[3] / "instances"
NAMES = Collection(ROOT).names
SMALL = "torus-4x2x2x2-1"


@pytest.fixture
def collection(tmp_path):
    """A copy of the smallest instance, without entries."""
    folder = tmp_path / "instances"
    shutil.copytree(ROOT / "v1" / SMALL, folder / "v1" / SMALL)
    shutil.copy(ROOT / "check.py", folder)
    lines = (ROOT / "v1/index.csv").read_text().splitlines(keepends=True)
    kept = [line for line in lines if line.startswith(("name,", f"{SMALL},"))]
    (folder / "v1/index.csv").write_text("".join(kept))
    return Collection(folder)


@pytest.mark.parametrize("name", NAMES)
def test_both_checkers_agree_on_the_best_entry_on_the_network_that_routelab_makes(name, tmp_path):
    instance = Collection(ROOT).instance(name)
    best = instance.entries()[0]
    assert instance.network.num_channels == len(instance.capacity)
    assert instance.collection.checker.main([name, str(best.folder)]) == 0
    assert instance.bound <= best.value
    content = instance.collection.checker.read_file(best.folder / "routes.csv.gz")
    routes = tmp_path / "routes.csv"
    routes.write_bytes(content)
    proof = prove_routes(routes, instance.network, instance.rules["virtual_channels"])
    assert proof.status == "proven"
    assert Fraction(proof.facts["max_load"]) == best.value
    assert proof.facts["pairs_without_route"] == 0


def test_the_tables_are_those_of_the_entries(tmp_path):
    shutil.copytree(ROOT, tmp_path / "instances")
    table, page, _ = write_tables(Collection(tmp_path / "instances"))
    assert table.read_text() == (ROOT / "best.csv").read_text()
    assert page.read_text() == (ROOT.parent / "docs/results/instances.md").read_text()
    with table.open() as file:
        states = [row["state"] for row in csv.DictReader(file)]
    assert min(states.count("closed"), states.count("open")) >= 3


@pytest.mark.parametrize("routing", ["nue~vls=1", "sssp@segment", "ib-balanced~vls=1"])
def test_an_entry_is_made_again_with_equal_routes(routing):
    instance = Collection(ROOT).instance(SMALL)
    (entry,) = [entry for entry in instance.entries() if entry.folder.name == routing]
    again = make_entry(instance, routing, entry.about["date"])
    assert again.about | {"version": ""} == dict(entry.about) | {"version": ""}


def test_the_routes_of_the_best_entry_are_kept_and_an_entry_is_compared(collection):
    instance = collection.instance(SMALL)
    assert best_rows(collection)[0][COLUMNS.index("state")] == "open"
    for routing, load in (("sssp@segment", 31), ("nue~vls=1", 24), ("sssp@l-turn", 29)):
        assert f"load {load}, written" in add_entry(instance, routing)
    kept = [entry.folder.name for entry in instance.entries() if entry.has_routes]
    assert kept == ["nue~vls=1"]
    assert "load 24, the routes of" in add_entry(instance, "nue~vls=1")

    about = instance.entries()[0].folder / "about.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"routes": "0" * 64}))
    with pytest.raises(DifferentError, match="other routes"):
        add_entry(instance, "nue~vls=1")
    assert collection.checker.main([SMALL, str(about.parent)]) == 2
    with pytest.raises(InputError, match="claims another SHA-256"):
        write_tables(collection)


def test_a_claim_without_routes_is_not_in_the_tables(collection):
    instance = collection.instance(SMALL)
    add_entry(instance, "nue~vls=1")
    (best,) = instance.entries()
    stranger = best.folder.parent / "stranger"
    stranger.mkdir()
    (stranger / "about.json").write_text(json.dumps(dict(best.about) | {"value": 15, "tool": "?"}))
    with pytest.raises(InputError, match=r"stranger: there is no routes\.csv\.gz"):
        write_tables(collection)


def test_routes_that_break_a_rule_are_no_entry(collection):
    instance = collection.instance(SMALL)
    for routing, reason in (
        ("dor", "cycle: "),
        ("balanced-dor", "outside: .* too many virtual channels"),
        ("fat-tree", "fat-tree: "),
    ):
        with pytest.raises(UnsupportedError, match=reason):
            add_entry(instance, routing)
    assert instance.entries() == []


def test_installed_routings_get_the_virtual_channels_of_the_instance():
    routings = [*installed_routings(Collection(ROOT).instance("twisted-4x4x8-2-pair"))]
    assert {"words~vcs=2,per=pair", "nue~vls=2", "dfsssp~max_channels=2", "dor"} <= {*routings}
    assert not {"valiant", "forwarding-tables", "cheapest@up-down~vcs=2"} & {*routings}


def test_another_network_is_refused(collection):
    path = collection.root / "v1" / SMALL / "network.csv"
    path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), reverse=True)))
    with pytest.raises(InputError, match=r"network\.csv of .* is not the one in index\.csv"):
        collection.instance(SMALL)


def test_commands_list_show_run_and_check(collection, capsys):
    options = ["--instances", str(collection.root)]
    assert main(["instances", "run", SMALL, "nue~vls=1", "dor", *options]) == 1  # dor has a cycle
    assert "no entry of dor: cycle: " in capsys.readouterr().out
    assert main(["instances", "list", "--format", "csv", *options]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert (row["instance"], row["bound"], row["best"], row["state"]) == (SMALL, "16", "24", "open")
    assert main(["instances", "show", SMALL, *options]) == 0
    assert "nue~vls=1" in capsys.readouterr().out
    entry = collection.root / "best" / SMALL / "nue~vls=1"
    assert main(["instances", "check", str(entry), *options]) == 0
    (entry / "routes.csv.gz").unlink()
    assert main(["instances", "check", str(entry), *options]) == 3
    assert main(["instances", "show", "none", *options]) == 2
    assert f"no instance is called 'none'; there are {SMALL}" in capsys.readouterr().err
    assert main(["instances", "list", "--instances", str(entry)]) == 2
    assert "has no check.py" in capsys.readouterr().err

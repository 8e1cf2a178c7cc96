"""Commands of the stages: what they print, write and return."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

from routelab.cli import main
from routelab.routing.facts import FIELDS


def test_evaluate_prints_the_promised_fields(capsys) -> None:
    assert main(["evaluate", "torus~dims=4x2", "angara-bfs", "dor", "--format", "csv"]) == 0
    reader = csv.DictReader(io.StringIO(capsys.readouterr().out))
    rows = list(reader)
    assert reader.fieldnames == list(FIELDS)
    assert [row["routing"] for row in rows] == ["angara-bfs", "dor"]
    assert rows[1]["max_load"] == "4"


def test_evaluate_fails_after_printing_all_rows(capsys, tmp_path: Path) -> None:
    (tmp_path / "net.txt").write_text("a b\n")
    topology = f"graph~file={tmp_path / 'net.txt'}"
    assert main(["evaluate", topology, "dor", "p2-sssp@up-down", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["status"] for row in rows] == ["unsupported", "ok"]


def test_topology_prints_its_channels_and_reads_its_own_files(capsys, tmp_path) -> None:
    assert main(["topology", "torus~dims=4", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 1 + 8
    folder = str(tmp_path / "net")
    assert main(["topology", "torus~dims=4", "-o", folder]) == 0
    assert main(["topology", folder, "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["topology"], facts["channels"]) == ("torus~dims=4", 8)
    assert (facts["diameter"], facts["links"], facts["best_cut_links"]) == (2, 4, 2)
    written = json.loads((tmp_path / "net" / "outcome.json").read_text())["facts"]
    known = {name: value for name, value in written.items() if value is not None}
    assert known.items() <= facts.items()


def test_route_prints_routes_and_facts(capsys) -> None:
    assert main(["route", "torus~dims=4", "dor", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 16
    assert {row["switches"] for row in rows if row["source"] == row["target"] == "0"} == {"0"}
    assert main(["route", "torus~dims=4", "dor", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["phase_load_xor"] == 3


def test_routes_to_terminals_are_printed_with_their_names(tmp_path: Path, capsys) -> None:
    hosts = [("n1", "a"), ("n2", "b"), ("n3", "b")]
    links = [("a", "b"), ("a", "b"), *hosts]
    network = {
        "multigraph": True,
        "nodes": [{"id": "a"}, {"id": "b"}, *({"id": n, "kind": "host"} for n, _ in hosts)],
        "links": [{"source": source, "target": target} for source, target in links],
    }
    (tmp_path / "net.json").write_text(json.dumps(network))
    command = ["route", f"graph~file={tmp_path / 'net.json'}", "dfsssp~routes=terminals"]
    assert main([*command, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    ends = [(row["source"], row["target"], row["terminal"], row["switches"]) for row in rows]
    assert ends == [
        ("a", "a", "n1", "a"),
        ("a", "b", "n2", "a b"),
        ("a", "b", "n3", "a b"),
        ("b", "a", "n1", "b a"),
        ("b", "b", "n2", "b"),
        ("b", "b", "n3", "b"),
    ]
    assert main([*command, "-o", str(tmp_path / "out")]) == 0
    again = ["export", "simgrid", str(tmp_path / "out"), "-o", str(tmp_path / "files")]
    assert main(again) == 0
    assert '<route src="n1" dst="n2"' in (tmp_path / "files" / "platform.xml").read_text()


def test_route_keeps_its_time_limit_and_writes_the_outcome(tmp_path: Path) -> None:
    # in a process of its own: the command forks
    command = ["route", "torus~dims=12x12x12", "p2-sssp@up-down", "-o", str(tmp_path / "out")]
    run = [sys.executable, "-m", "routelab", *command, "--seconds", "2"]
    ended = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    outcome = json.loads((tmp_path / "out" / "outcome.json").read_text())
    assert outcome["status"] == "timeout"
    assert outcome["reason"].startswith("reached its limit of 2 CPU-s (limits.seconds) in ")
    assert "Stack" not in ended.stderr
    kept = subprocess.run([*run, "--keep-going"], capture_output=True, text=True, check=False)
    assert kept.returncode == 0


def test_evaluate_adds_named_metrics_to_the_usual_facts(capsys) -> None:
    command = ["evaluate", "torus~dims=4x2", "dor", "sssp@angara", "--format", "csv", "--metrics"]
    assert main([*command, "worst-permutation+channel-load~k=2"]) == 0
    reader = csv.DictReader(io.StringIO(capsys.readouterr().out))
    rows = list(reader)
    # what is a fact already stands where it always does
    assert reader.fieldnames == [*FIELDS, "worst_permutation", "perfect_load", "sigma2"]
    assert all(float(row["worst_permutation"]) >= 1 for row in rows)
    assert main([*command, "worst-permutatoin"]) == 2
    assert "no metric plugin is called 'worst-permutatoin'" in capsys.readouterr().err


def test_failed_parts_are_named(capsys) -> None:
    name = "torus~dims=4x2,failed_links=0-2+1-3,failed_switches=7"
    assert main(["topology", name, "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["failed_links"], facts["failed_switches"]) == (2, 1)
    assert facts["failed_switches_names"] == ["3.1"]
    assert facts["failed_links_names"] == ["0.0-1.0", "0.1-1.1"]
    assert facts["failed_switches_numbers"] == ["7"]
    assert facts["failed_links_numbers"] == ["0-2", "1-3"]
    assert main(["topology", name]) == 0
    assert "0.0-1.0 (0-2), 0.1-1.1 (1-3)\n" in capsys.readouterr().out


def test_the_numbers_of_failed_links_fail_the_same_links(capsys) -> None:
    for whole in ("torus~dims=4x4,failed_switches=3", "dragonfly~h=1,p=2,failed_switches=3"):
        assert main(["topology", f"{whole},fail_links=4", "--format", "json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        links = "+".join(facts["failed_links_numbers"])
        assert main(["topology", f"{whole},failed_links={links}", "--format", "json"]) == 0
        again = json.loads(capsys.readouterr().out)
        assert sorted(again["failed_links_names"]) == sorted(facts["failed_links_names"])


def test_channels_have_the_numbers_of_the_whole_network(capsys) -> None:
    assert main(["topology", "mesh~dims=3x3,nodes=1+4+5", "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    numbers = {row["source"]: row["source_number"] for row in rows}
    assert numbers == {"0.1": "1", "1.1": "4", "1.2": "5"}


def test_a_terminal_of_80_columns_shows_the_gap(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["evaluate", "torus~dims=4x2", "angara-bfs", "angara-sssp", "--bound"]) == 0
    heading, *_ = capsys.readouterr().out.splitlines()
    assert len(heading) <= 80
    assert {"max_load", "gap", "lower_bound_rules"} <= set(heading.split())

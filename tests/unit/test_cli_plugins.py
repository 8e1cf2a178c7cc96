import csv
import io
import json
import sys

import pytest

from routelab.cli import main
from routelab.registry import catalogue as catalogue_module
from routelab.registry.catalogue import Catalogue, installed_catalogue

COLUMNS = ["kind", "key", "distribution", "version", "status", "summary"]


@pytest.fixture
def plugins(zoo, site, monkeypatch):
    """The zoo and one broken plugin are all that is installed."""
    site.install("bad", {"topology": {"bad": "nowhere_to_be_found:Bad"}}, {}, "0.4")
    catalogue = site.catalogue()
    monkeypatch.setattr(catalogue_module, "installed_catalogue", lambda: catalogue)
    return catalogue


def printed(capsys, *arguments, code=0):
    assert main(["plugins", *arguments]) == code
    return capsys.readouterr().out


def test_list_has_a_row_for_every_plugin(plugins, capsys):
    rows = list(csv.reader(io.StringIO(printed(capsys, "list", "--format", "csv"))))
    assert rows[0] == [*COLUMNS, "cause"]
    assert [tuple(row[:2]) for row in rows[1:]] == [
        (entry.kind, entry.key) for entry in plugins.entries()
    ]
    by_key = {row[1]: row for row in rows[1:]}
    assert by_key["grid"] == ["topology", "grid", "zoo-plugins", "1.0", "ok", "A grid", ""]
    assert by_key["bad"][:6] == ["topology", "bad", "bad", "0.4", "broken", ""]
    assert "No module named 'nowhere_to_be_found'" in by_key["bad"][6]


def test_formats_say_the_same(plugins, capsys):
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "list", "--format", "csv"))))
    assert json.loads(printed(capsys, "list", "--format", "json")) == rows


def test_list_of_a_kind_is_aligned_text_and_tells_causes(plugins, capsys):
    header, *lines = printed(capsys, "list", "topology").splitlines()
    assert header.split() == COLUMNS
    start = header.index("status")
    assert [line[start:].split()[0] for line in lines[:3]] == ["broken", "ok", "ok"]
    assert "plugin topology/bad of bad 0.4" in "".join(lines[3:])


def test_a_terminal_gets_names_and_summaries(plugins, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    lines = printed(capsys, "list", "topology").splitlines()
    assert lines[0].split() == ["name", "summary"]
    assert lines[2].split("  ", 1) == ["bad", "  (broken, see below)"]
    assert "A grid" in "".join(lines)
    assert "plugin topology/bad of bad 0.4" in "".join(lines)
    assert printed(capsys, "list").splitlines()[2] == "topology"


def test_list_of_no_kind_is_refused(plugins, capsys):
    assert main(["plugins", "list", "topolgy"]) == 2
    assert "did you mean 'topology'?" in capsys.readouterr().err


def test_show_tells_what_a_plugin_states(plugins, capsys):
    out = printed(capsys, "show", "turns")
    assert out.startswith("rules/turns: Rules with two turn sets\n")
    assert "from zoo-plugins 1.0 (zoo:Turns)" in out
    assert "Smith, André. On turns. J. Turns, 2020, doi:10.1/2 (Algorithm 1)" in out
    assert "  deterministic       yes\n" in out
    lines = [line.split("  ") for line in out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["admit", "few | many", "few", "turns that are legal"] in cells
    assert ["seed", "integer ≥ 0", "0", "order of the turns"] in cells


def test_show_marks_parameters_that_have_to_be_given(plugins, capsys):
    (line,) = [line for line in printed(capsys, "show", "grid").splitlines() if " dims " in line]
    assert "(required)" in line


def test_show_of_a_composition_has_its_parts_and_open_parameters(plugins, capsys):
    out = printed(capsys, "show", "routing/published")
    assert "  rules      turns~admit=many\n" in out
    assert "  selection  pick\n" in out
    assert "  layers     none\n" in out
    assert "selection.seed" in out
    assert "  admit" not in out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gird", "no plugin is called 'gird'; did you mean 'grid'?"),
        ("rules/grid", "'grid' is a plugin of kind topology"),
        ("topolgy/grid", "did you mean 'topology'?"),
        ("bad", "No module named 'nowhere_to_be_found'"),
    ],
)
def test_show_of_what_cannot_be_shown_is_refused(plugins, capsys, name, said):
    assert main(["plugins", "show", name]) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)


def test_a_name_in_two_kinds_needs_its_kind(zoo, site, capsys, monkeypatch):
    source = (site.folder / "zoo.py").read_text().replace('name = "turns"', 'name = "grid"')
    site.install("more", {"rules": {"grid": "zoo_two:Turns"}}, {"zoo_two.py": source})
    monkeypatch.setattr(catalogue_module, "installed_catalogue", site.catalogue)
    assert main(["plugins", "show", "grid"]) == 2
    assert "write rules/grid or topology/grid" in capsys.readouterr().err
    assert "turn sets" in printed(capsys, "show", "rules/grid")


METRICS = """
from routelab.api import Column, Measurement, MetricPlugin


class Sound(MetricPlugin):
    name = "sound"
    summary = "Counts paths"
    columns = (Column("paths", "paths of all pairs"),)

    def measure(self, table, graph):
        return [Measurement("paths", table.num_paths)]


class Needy(MetricPlugin):
    name = "needy"
    summary = "Counts edges, and forgets that there may be no rules"
    columns = (Column("edges", "edges of the rules"),)

    def measure(self, table, graph):
        return [Measurement("edges", graph.num_edges)]
"""


@pytest.fixture
def metrics(site, monkeypatch):
    """A sound, a wrong and a broken plugin."""
    points = {"sound": "few:Sound", "needy": "few:Needy", "lost": "nowhere_to_be_found:Lost"}
    site.install("few", {"metric": points}, {"few.py": METRICS})
    monkeypatch.setattr(catalogue_module, "installed_catalogue", site.catalogue)


def test_check_of_a_sound_plugin_tells_what_was_checked(metrics, capsys):
    header, *lines, last = printed(capsys, "check", "metric/sound").splitlines()
    assert header.split() == ["check", "inputs", "result", "message"]
    checks = {line.split()[0]: line.split()[1:3] for line in lines}
    assert checks["contract"] == ["1", "passed"]
    assert checks["fresh-process"] == ["1", "passed"]
    assert checks["numbers"][1] == "passed"
    assert int(checks["numbers"][0]) > 15
    assert ", 0 failed, " in last


def test_check_of_a_wrong_plugin_names_input_and_cause(metrics, capsys):
    out = printed(capsys, "check", "needy", code=1)
    failed = [line for line in out.splitlines() if " failed  " in line]
    assert [line.split()[:2] for line in failed] == [
        ["result", "one-switch+no-rules"],
        ["result", "torus+no-rules"],
        ["result", "torus+multipath+no-rules"],
    ]
    assert "AttributeError: 'NoneType' object has no attribute 'num_edges'" in failed[0]


def test_check_of_all_has_a_line_for_each_and_what_failed(metrics, capsys):
    out = printed(capsys, "check", code=1)
    assert "ok      metric/sound" in out
    assert "failed  metric/needy" in out
    assert "        contract on lost: plugin metric/lost of few 1.0" in out
    assert "No module named 'nowhere_to_be_found'" in out
    assert out.splitlines()[-1] == "plugins checked: 3, not ok: 2"


def test_check_for_programs_has_a_row_for_each_check_and_input(metrics, capsys):
    rows = json.loads(printed(capsys, "check", "metric/needy", "--format", "json", code=1))
    assert {(row["check"], row["input"], row["status"]) for row in rows} >= {
        ("contract", "needy", "passed"),
        ("result", "torus+no-rules", "failed"),
        ("result", "torus", "passed"),
        ("numbers", "torus+no-rules", "skipped"),
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sond"], "did you mean 'sound'?"),
        (["metrics/sound"], "did you mean 'metric'?"),
        (["sound~x"], "expected '=' and a value"),
        (["sound", "--seconds", "0"], "expected a number of seconds above 0, got 0"),
        (["sound", "--seconds", "soon"], "expected a number of seconds above 0, got soon"),
    ],
)
def test_check_of_what_cannot_be_checked_is_refused(metrics, capsys, arguments, said):
    assert main(["plugins", "check", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_check_of_a_duplicate_fails(zoo, site, capsys, monkeypatch):
    site.install("copy", {"topology": {"grid": "zoo:Grid"}}, {})
    monkeypatch.setattr(catalogue_module, "installed_catalogue", site.catalogue)
    assert "is registered more than once" in printed(capsys, "check", "grid", code=1)


def test_check_of_nothing_fails(monkeypatch, capsys):
    monkeypatch.setattr(catalogue_module, "installed_catalogue", lambda: Catalogue([]))
    assert main(["plugins", "check"]) == 1
    assert "nothing was checked" in capsys.readouterr().err


def test_what_is_on_the_path_is_listed_without_any_help(zoo, capsys):
    assert "grid" in installed_catalogue().keys("topology")
    rows = json.loads(printed(capsys, "list", "topology", "--format", "json"))
    assert ("grid", "zoo-plugins", "ok") in {
        (row["key"], row["distribution"], row["status"]) for row in rows
    }


def test_columns_are_listed_by_the_rows_that_have_them(capsys):
    assert main(["plugins", "columns", "--of", "routes", "--format", "json"]) == 0
    rows = {row["column"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["max_load"]["unit"] == "routes"
    assert rows["max_load"]["better"] == "lower"
    assert rows["gap"]["needs"] == "bound"
    assert "cov_percent" not in rows
    assert main(["plugins", "columns", "--format", "markdown"]) == 0
    page = capsys.readouterr().out
    assert "## Measurements\n\n`of: benchmarks`" in page
    assert "| `max_load` | load of the busiest channel" in page


def test_rows_that_do_not_exist_are_an_input_error(capsys):
    assert main(["plugins", "columns", "--of", "rutes"]) == 2
    assert "no rows 'rutes'; did you mean 'routes'?" in capsys.readouterr().err

import csv
import io
import json
import re

import pytest

from routelab.cli import main
from routelab.registry.catalogue import installed_catalogue

COLUMNS = ["kind", "key", "distribution", "version", "status", "summary"]


@pytest.fixture
def plugins(zoo, site, monkeypatch):
    """The zoo and one broken plugin are all that is installed."""
    site.install("bad", {"topology": {"bad": "nowhere_to_be_found:Bad"}}, {}, "0.4")
    return site.hide_others(monkeypatch)


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


def test_show_prints_the_declarations_of_a_plugin(plugins, capsys):
    out = printed(capsys, "show", "turns")
    assert out.startswith("rules/turns: Rules with two turn sets\n")
    assert "from zoo-plugins 1.0 (zoo:Turns)" in out
    assert "Smith, André. On turns. J. Turns, 2020, doi:10.1/2 (Algorithm 1)" in out
    assert "  deterministic       yes\n" in out
    lines = [line.split("  ") for line in out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["admit", "few | many", "few", "turns that are legal"] in cells
    assert ["seed", "integer ≥ 0", "0", "order of the turns"] in cells


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gird", "no plugin is called 'gird'; did you mean 'grid'?"),
        ("rules/grid", "'grid' is a plugin of kind topology"),
        ("topolgy/grid", "did you mean 'topology'?"),
        ("bad", "No module named 'nowhere_to_be_found'"),
    ],
)
def test_show_rejects_unknown_and_broken_plugins(plugins, capsys, name, said):
    assert main(["plugins", "show", name]) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)


def test_a_name_in_two_kinds_needs_its_kind(zoo, site, capsys, monkeypatch):
    source = (site.folder / "zoo.py").read_text().replace('name = "turns"', 'name = "grid"')
    site.install("more", {"rules": {"grid": "zoo_two:Turns"}}, {"zoo_two.py": source})
    site.hide_others(monkeypatch)
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
    site.hide_others(monkeypatch)


def test_check_of_a_sound_plugin_lists_its_checks(metrics, capsys):
    header, *lines, last = printed(capsys, "check", "metric/sound").splitlines()
    assert header.split() == ["check", "inputs", "result", "message"]
    checks = {line.split()[0]: line.split()[1:3] for line in lines}
    assert checks["contract"] == ["1", "passed"]
    assert checks["fresh-process"] == ["1", "passed"]
    assert checks["numbers"][1] == "passed"
    assert int(checks["numbers"][0]) > 15
    assert ", 0 failed, " in last


def test_check_of_a_wrong_plugin_names_input_and_cause_once(metrics, capsys):
    out = printed(capsys, "check", "needy", code=1)
    (line,) = [line for line in out.splitlines() if " failed  " in line]
    assert line.split()[:4] == ["result", "one-switch+no-rules", "and", "2"]
    assert "AttributeError: 'NoneType' object has no attribute 'num_edges'" in line
    of_inputs = printed(capsys, "check", "needy", "--format", "csv", code=1)
    assert of_inputs.count(",failed,") == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sond"], "did you mean 'sound'?"),
        (["metrics/sound"], "did you mean 'metric'?"),
        (["sound~x"], "expected '=' and a value"),
        (["sound", "--seconds", "0"], "'0' is not a number above 0"),
        (["sound", "--seconds", "soon"], "'soon' is not a number above 0"),
    ],
)
def test_check_rejects_wrong_names_and_options(metrics, capsys, arguments, said):
    assert main(["plugins", "check", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_check_of_a_duplicate_fails(zoo, site, capsys, monkeypatch):
    site.install("copy", {"topology": {"grid": "zoo:Grid"}}, {})
    site.hide_others(monkeypatch)
    assert "is registered more than once" in printed(capsys, "check", "grid", code=1)


def test_columns_are_listed_by_the_rows_that_have_them(capsys):
    assert main(["plugins", "columns", "--of", "routes", "--format", "json"]) == 0
    rows = {row["column"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["max_load"]["unit"] == "routes"
    assert rows["max_load"]["better"] == "lower"
    assert rows["gap"]["needs"] == "bound"
    assert "cov_percent" not in rows


def test_check_refuses_the_second_of_two_metrics_with_one_column(site, capsys):
    both = METRICS.replace('"needy"', '"then"').replace('"edges", "edges', '"paths", "edges')
    points = {"sound": "both:Sound", "then": "both:Needy"}
    site.install("both", {"metric": points}, {"both.py": both})
    installed_catalogue.cache_clear()
    printed(capsys, "check", "metric/sound")
    out = printed(capsys, "check", "metric/then", code=1)
    clash = "metric 'then' of both 1.0 has the column 'paths', as metric 'sound' of both 1.0"
    assert re.search(f"^columns +other metrics +failed +{clash}", out, re.MULTILINE)

from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.study import load_reference

ROOT = Path(__file__).parents[3]
MUKOSEY = ROOT / "config/references/mukosey2020"


def test_numbers_of_the_angara_paper():
    """Table 2 (32 nodes) and Table 3 (FT) as printed."""
    reference = load_reference(MUKOSEY)
    rows = {(row["routing"], row["nodes"]): row for row in reference.rows("table2.csv")}
    assert len(rows) == 15
    published = {name: rows[name, "32"] for name in ("angara-bfs", "angara-genetic", "angara-sssp")}
    assert {
        name: (row["max_load"], row["min_load"], row["sigma4"], row["max_hops"])
        for name, row in published.items()
    } == {
        "angara-bfs": ("48", "3", "12.254", "5"),
        "angara-genetic": ("27", "8", "6.274", "5"),
        "angara-sssp": ("28", "8", "6.298", "5"),
    }
    mops = {
        row["routing"]: (row["mops"], row["cov_percent"])
        for row in reference.rows("table3.csv")
        if row["benchmark"] == "FT"
    }
    assert mops["angara-sssp"] == ("181911", "0.55")
    assert reference.columns("table3.csv") == [
        *("benchmark", "routing", "mops", "cov_percent", "improvement_percent")
    ]


def test_the_source_is_stated():
    source = load_reference(MUKOSEY).source
    assert source.key == "mukosey2020"
    assert source.authors == ["Anatoly Mukosey", "Alexander Semenov", "Alexander Tretiakov"]


def test_a_folder_holds_the_tables_of_its_citation(tmp_path):
    folder = tmp_path / "key2020"
    folder.mkdir()
    (folder / "table2.csv").write_text("a,b\n1,2\n")
    (folder / "citation.yaml").write_text(
        "key: other\ntitle: t\nauthors: [a]\ntables:\n  tabel2.csv: numbers\n"
    )
    with pytest.raises(InputError) as raised:
        load_reference(folder)
    place = folder / "citation.yaml"
    assert str(raised.value).splitlines() == [
        f"{place}:1: key: the folder is named 'key2020'",
        f"{place}:5: tables.tabel2.csv: no such file in {folder}; did you mean 'table2.csv'?",
        f"{place}:4: tables: table2.csv is not listed",
    ]


def test_a_folder_needs_a_citation(tmp_path):
    with pytest.raises(InputError, match=r"citation\.yaml: cannot be read"):
        load_reference(tmp_path)

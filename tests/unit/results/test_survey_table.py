"""A shard's table reads back as what was written."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.results.survey_table import SurveyTable, read_survey_table, write_survey_table

NAMES = {"topology": "torus~dims=4x2", "routing": "dor", "status": "ok", "reason": ""}
TABLE = SurveyTable(
    rows=[
        {**NAMES, "max_load": 4, "sigma4": 1.25, "optimal": True, "word": "4x2", "origin": "a"},
        {**NAMES, "routing": "2", "status": "failed", "reason": "12", "origin": "a"},
    ],
    origins={"a": {"host": "h"}},
    metrics={"sigma4": {"unit": "", "better": "lower"}},
)


def test_values_keep_their_kinds(tmp_path):
    path = tmp_path / "s.csv"
    write_survey_table(TABLE, path, ["max_load", "optimal"])
    assert path.read_text().startswith("topology,routing,status,reason,max_load,optimal,sigma4,")
    table = read_survey_table(path)
    lost = dict.fromkeys(("max_load", "sigma4", "optimal", "word"))
    assert table.rows == [TABLE.rows[0], {**lost, **TABLE.rows[1]}]
    assert [type(table.rows[0][name]) for name in lost] == [int, float, bool, str]
    assert (table.origins, table.metrics) == (TABLE.origins, TABLE.metrics)


def test_lost_lines_are_reported(tmp_path):
    path = tmp_path / "s.csv"
    write_survey_table(TABLE, path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match=r"s\.csv is damaged: .* remove it"):
        read_survey_table(path)

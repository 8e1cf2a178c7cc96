"""The table of a survey's shard: a CSV file with a row per run, and its origin in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from routelab.api.errors import InputError
from routelab.results.atomic import atomic_file
from routelab.results.json_files import read_json, to_plain, write_json
from routelab.results.outcome import file_sum
from routelab.results.tables import read_tuples, write_csv

FORMAT = "survey-table/2"
NAMES = ("topology", "routing", "status", "reason")
"""First columns; all others have numbers, words and truth values."""


@dataclass(frozen=True)
class SurveyTable:
    """Runs of a survey.

    Attributes
    ----------
    rows : sequence of dict
        Values by column: `NAMES`, facts and metrics, ``origin``. None where there is no value.
    origins : mapping of str to dict
        Provenances: versions and machine of each process that computed rows. A row names its own
        by the key in the column ``origin``.
    metrics : mapping of str to dict
        ``unit`` and ``better`` of the columns that metrics measured.
    """

    rows: Sequence[Mapping[str, Any]]
    origins: Mapping[str, Mapping[str, Any]]
    metrics: Mapping[str, Mapping[str, str]]


def write_survey_table(
    table: SurveyTable, path: Path, columns: Sequence[str] = (), replaces: int = 0
) -> None:
    """Write a table as CSV and, beside it with the suffix ``.json``, where it comes from.

    Parameters
    ----------
    table : SurveyTable
    path : path
        The CSV file.
    columns : sequence of str
        Known columns in order; further columns of the rows follow.
    replaces : int
        Time of the table that this one replaces, in ns; 0 if none. It goes into the JSON file, from
        which the next run reads it: see `routelab.workflow.plan.plan.Plan.write_lists`.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    ordered_columns = dict.fromkeys([*NAMES, *columns])
    row_columns = dict.fromkeys(key for row in table.rows for key in row)
    header = [
        *(key for key in ordered_columns if key in row_columns),
        *(key for key in row_columns if key not in ordered_columns),
    ]
    # The CSV file gets its name after the JSON file is written: where it exists, both do.
    with atomic_file(path) as draft:
        write_csv(
            draft, header, ([_cell_value(row.get(key)) for key in header] for row in table.rows)
        )
        facts = {
            "format": FORMAT,
            "replaces": replaces,
            "columns": header,
            "table": file_sum(draft),
            "metrics": table.metrics,
            "origins": table.origins,
        }
        write_json(path.with_suffix(".json"), facts)


def read_survey_table(path: Path) -> SurveyTable:
    """Read what `write_survey_table` wrote.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    try:
        facts = read_json(path.with_suffix(".json"), FORMAT)
    except InputError as error:
        # Behind the semicolon is how to fix any JSON file. Here the table is to be removed: without
        # it, the workflow makes both files again.
        raise InputError(f"{str(error).partition(';')[0]}; remove {path} and run again") from error
    header = facts["columns"]
    lines = read_tuples(path, header, ())
    if file_sum(path) != facts["table"]:
        raise InputError(
            f"{path} is damaged: it has another content than was written; remove it and run again"
        )
    parsers = [str if key in NAMES else _parse_cell for key in header]
    rows = [
        {key: parse(cell) for key, parse, cell in zip(header, parsers, line, strict=True)}
        for line in lines
    ]
    return SurveyTable(rows, facts["origins"], facts["metrics"])


def _cell_value(value: Any) -> Any:
    """Return a value for `write_csv`: truth values in lower case, lists joined by spaces."""
    value = to_plain(value)
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(map(str, value)) if isinstance(value, list) else value


def _parse_cell(text: str) -> Any:
    """Return a cell as None, truth value, integer, number or text, whichever fits first."""
    if text in ("", "true", "false"):
        return None if not text else text == "true"
    for number_type in (int, float):
        try:
            return number_type(text)
        except ValueError:
            continue
    return text

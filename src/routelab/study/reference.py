"""Published numbers and their sources."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from pydantic import Field, ValidationError

from routelab.study.document import load_document
from routelab.study.entries import StudyPart
from routelab.study.errors import ConfigError, suggestion
from routelab.study.validation import describe_mistakes
from routelab.toolkit.csv_cells import unescape_cell
from routelab.toolkit.input_files import read_text


class Source(StudyPart):
    """The publication that the numbers of a reference are taken from (`citation.yaml`)."""

    key: str = Field(description="Citation key, equal to the folder's name")
    title: str = Field(description="As printed")
    authors: list[str] = Field(min_length=1, description="As printed")
    affiliation: str | None = Field(
        default=None, description="Affiliation of the authors, as printed"
    )
    venue: str | None = Field(default=None, description="Journal, proceedings or publisher")
    year: int | None = Field(default=None, description="Of publication")
    doi: str | None = Field(default=None, description="DOI without the resolver's address")
    note: str | None = Field(default=None, description="Notes that readers of the numbers need")
    tables: dict[str, str] = Field(
        min_length=1, description="CSV files of the folder, each with a description"
    )


@dataclass(frozen=True)
class Reference:
    """A folder of published numbers.

    Attributes
    ----------
    folder : Path
        The folder with ``citation.yaml`` and the CSV files.
    source : Source
        The content of ``citation.yaml``: the publication, and what each CSV file shows.
    """

    folder: Path
    source: Source

    @property
    def tables(self) -> dict[str, Path]:
        """Return the CSV files by name."""
        return {name: self.folder / name for name in self.source.tables}

    def rows(self, table: str) -> list[dict[str, str]]:
        """Return the rows of a table, with cells as the publication prints them.

        In the file, a text that a spreadsheet would evaluate may have an apostrophe in front
        (`routelab.toolkit.csv_cells`). It is removed.
        """
        rows: list[dict[str, str]] = []
        for row in csv.DictReader(self._open_table(table)):
            # Not all values are texts. If a row has too few cells, DictReader gives None for the
            # missing ones; if it has too many, the list of the surplus cells, under the name None.
            cells = {
                name: unescape_cell(cell) if isinstance(cell, str) else cell
                for name, cell in row.items()
            }
            rows.append(cells)
        return rows

    def columns(self, table: str) -> list[str]:
        """Return the column names of a table, in order."""
        return next(csv.reader(self._open_table(table)), [])

    def _open_table(self, table: str) -> StringIO:
        """Return the text of a CSV file; raise ConfigError if it cannot be read."""
        path = self.tables[table]
        try:
            return StringIO(read_text(path), newline="")
        except OSError as error:
            raise ConfigError([f"{path}: cannot be read: {error.strerror or error}"]) from None
        except UnicodeDecodeError:
            raise ConfigError([f"{path}: is not a text file in UTF-8"]) from None


def load_reference(folder: Path) -> Reference:
    """Read a folder with ``citation.yaml`` and the CSV files that it lists.

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes, one line each.
    """
    document = load_document(folder / "citation.yaml")
    try:
        source = Source.model_validate(document.data)
    except ValidationError as error:
        raise ConfigError(describe_mistakes(error, document, Source)) from None
    # The key is the folder's name, and `tables` lists exactly the CSV files of the folder.
    mistakes = []
    if source.key != folder.name:
        mistakes.append(f"{document.place(['key'])}the folder is named {folder.name!r}")
    csv_files = sorted(path.name for path in folder.glob("*.csv"))
    mistakes += [
        f"{document.place(['tables', name])}no such file in {folder}{suggestion(name, csv_files)}"
        for name in source.tables
        if name not in csv_files
    ]
    mistakes += [
        f"{document.place(['tables'])}{name} is not listed"
        for name in csv_files
        if name not in source.tables
    ]
    if mistakes:
        raise ConfigError(mistakes)
    return Reference(folder, source)

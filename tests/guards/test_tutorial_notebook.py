"""The tutorial notebook: it runs, and its results obey laws."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def executed():
    reason = "needs nbclient and ipykernel: pip install 'routelab[test]'"
    client = pytest.importorskip("nbclient", reason=reason)
    nbformat = pytest.importorskip("nbformat", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    return client.NotebookClient(nbformat.read(NOTEBOOK, as_version=4), timeout=300).execute()


def frames(notebook, column: str) -> list[pd.DataFrame]:
    """Displayed tables that have a column."""
    texts = [
        output.data["text/plain"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if column in output.data["text/plain"].split("\n")[0] and "<div>" in str(output.data)
    ]
    # lines between the columns' names and the rows name the index
    lines = [[line for line in text.split("\n") if line.split() != ["channel"]] for text in texts]
    return [pd.read_csv(io.StringIO("\n".join(rows)), sep=r"\s+") for rows in lines]


def test_it_is_stored_without_results():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8
    for cell in code:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.thorough
def test_every_algorithm_is_proven_and_loads_obey_conservation(executed):
    three, four = frames(executed, "max_load")
    for table, count in ((three, 3), (four, 4)):
        assert list(table.columns) == [
            "routing",
            "max_load",
            "mean_hops",
            "virtual_channels",
            "deadlock",
        ]
        assert len(table) == count
        assert set(table["deadlock"]) == {"proven"}
        # hops of all 16 x 15 routes are on 64 channels
        assert (table["max_load"] >= table["mean_hops"] * 240 / 64 - 1e-3).all()
    # virtual channels follow the hops: as many as the longest route has
    assert four.iloc[3]["virtual_channels"] >= four.iloc[3]["mean_hops"]


@pytest.mark.thorough
def test_the_cycle_closes(executed):
    *_, cycle = frames(executed, "source")
    assert len(cycle) > 1
    assert list(cycle["target"]) == [*cycle["source"][1:], cycle["source"].iloc[0]]

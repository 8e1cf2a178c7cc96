"""Values as tables on the terminal show them."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.cli import main
from routelab.commands._shared.output import check_result_folder


def test_only_results_may_be_replaced(tmp_path):
    """A result takes its folder's place with all in it: what is none must not be lost."""
    check_result_folder(tmp_path / "new")
    check_result_folder(tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "outcome.json").write_text("{}")
    (tmp_path / "curve.csv").write_text("load")
    check_result_folder(tmp_path)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"thesis\.tex.*would be lost; name a new folder"):
        check_result_folder(tmp_path)
    with pytest.raises(InputError, match="Not a directory"):
        check_result_folder(tmp_path / "thesis.tex")


@pytest.mark.parametrize(
    "command",
    [
        ("topology", "torus~dims=2"),
        ("route", "torus~dims=2", "dor"),
        ("bound", "torus~dims=2"),
        ("simulate", "torus~dims=2", "dor", "uniform"),
    ],
)
def test_a_folder_of_something_else_is_refused_by_all(command, tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("years of work")
    assert main([*command, "-o", str(tmp_path)]) == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]

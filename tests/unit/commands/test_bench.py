"""`routelab bench` without any cluster: the branches that end with a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.cli import main


def test_a_planned_comparison_needs_its_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "nowhere.json")
    assert main(["bench", "--comparison", missing, "-o", str(tmp_path / "done.json")]) == 2
    assert missing in capsys.readouterr().err


def test_an_unknown_cluster_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "--cluster", "nowhere", "--benchmark", "npb"]) == 2
    printed = capsys.readouterr().err
    assert "cluster: no cluster 'nowhere'" in printed
    assert "Traceback" not in printed

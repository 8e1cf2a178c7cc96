"""The script that installs with several versions of Python: what it looks for and installs."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from . import versions

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.packaging


def test_the_lowest_versions_are_those_of_the_project_file() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    pins = (ROOT / "constraints.txt").read_text()
    lines = versions.lowest_versions(project, pins).splitlines()
    names = [versions.normal(line.partition("==")[0]) for line in lines]
    assert len(set(names)) == len(names)
    assert "numba==0.62" in lines
    assert "matplotlib" in names
    assert not {"llvmlite", "pydantic-core"} & set(names)
    for line in lines:
        Requirement(line)
    with pytest.raises(ValueError, match="'numpy' has no lower bound"):
        versions.lowest_versions('project.dependencies = ["numpy"]', pins)


def test_the_classifiers_name_versions_that_are_tried() -> None:
    project = versions.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: 3."
    named = {text for text in project["classifiers"] if text.startswith(prefix)}
    assert named == {f"{prefix}{minor}" for minor in (11, 12, 13)}
    assert all(text.rpartition(" ")[2] in versions.VERSIONS for text in named)

"""The script that installs with several versions of Python: what it looks for and installs."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import versions

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.packaging


def test_the_classifiers_name_versions_that_are_tried() -> None:
    project = versions.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: 3."
    named = {text for text in project["classifiers"] if text.startswith(prefix)}
    assert named == {f"{prefix}{minor}" for minor in (11, 12, 13)}
    assert all(text.rpartition(" ")[2] in versions.VERSIONS for text in named)

"""The right plugins and the mutants, installed for these tests only."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from routelab.registry.catalogue import installed_catalogue

FOLDER = Path(__file__).parent / "mutants"
sys.path.insert(0, str(FOLDER))


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """A folder with the metadata of a distribution that registers all of them."""
    from cases import POINTS

    folder = tmp_path_factory.mktemp("zoo")
    info = folder / "zoo-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zoo\nVersion: 1.0\n")
    lines = []
    for kind, points in POINTS.items():
        lines.append(f"[routelab.{kind}]")
        lines += [f"{key} = {value}" for key, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(lines))
    sys.path.insert(0, str(folder))
    installed_catalogue.cache_clear()
    yield folder
    sys.path.remove(str(folder))
    installed_catalogue.cache_clear()

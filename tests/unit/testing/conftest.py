"""The right plugins and the mutants, installed for these tests only."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from installed_in_place import write_distribution

from routelab.registry.catalogue import installed_catalogue

FOLDER = Path(__file__).parent / "mutants"
sys.path.insert(0, str(FOLDER))


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    """A folder with the metadata of a distribution that registers all of them."""
    from cases import POINTS

    folder = tmp_path_factory.mktemp("zoo")
    write_distribution(folder, "zoo", {f"routelab.{kind}": keys for kind, keys in POINTS.items()})
    sys.path.insert(0, str(folder))
    installed_catalogue.cache_clear()
    yield folder
    sys.path.remove(str(folder))
    installed_catalogue.cache_clear()

"""Distributions that are installed for one test only."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from installed_in_place import write_distribution

from routelab._runtime import sources
from routelab.registry import catalogue as catalogue_module
from routelab.registry import columns
from routelab.registry.catalogue import Catalogue, installed_catalogue
from routelab.results import fingerprint
from routelab.results.distributions import distribution_of, distribution_version

ZOO = """
from pathlib import Path
from typing import Literal

from routelab.api import (
    Citation, Composition, Dims, Integers, LayersPlugin, Parameters, RoutingPlugin, RulesPlugin,
    SelectionPlugin, TopologyPlugin, Words, parameter,
)


class Grid(TopologyPlugin):
    name = "grid"
    summary = "A grid"

    class Parameters(Parameters):
        dims: Dims = parameter(description="sizes of its dimensions")
        failed_switches: Integers = parameter((), description="switches taken away")
        failed_links: Words = parameter((), description="links taken away")
        class_: Literal["a", "b"] = parameter("a", description="a keyword of Python")
        scale: float = parameter(1.0, gt=0, description="how large")
        limit: int | None = parameter(7, ge=1, description="how many at most")
        wrap: bool = parameter(True, description="rings or not")
        label: str = parameter("", description="any text")
        file: Path | None = parameter(None, description="where it comes from")

    def build(self):
        raise NotImplementedError


class Bare(TopologyPlugin):
    name = "bare"
    summary = "A network that takes no parameters"

    def build(self):
        raise NotImplementedError


class Turns(RulesPlugin):
    name = "turns"
    summary = "Rules with two turn sets"
    citations = (Citation("Smith, André. On turns. J. Turns, 2020", "10.1/2", "Algorithm 1"),)

    class Parameters(Parameters):
        admit: Literal["few", "many"] = parameter("few", description="turns that are legal")
        seed: int = parameter(0, ge=0, description="order of the turns")

    def routing_graph(self, topology):
        raise NotImplementedError


class Pick(SelectionPlugin):
    name = "pick"
    summary = "Picks a route"

    class Parameters(Parameters):
        tie_seed: int = parameter(0, ge=0, description="order of ties")
        seed: int = parameter(0, ge=0, description="seed of all else")

    def select(self, graph):
        raise NotImplementedError


class NoLayers(LayersPlugin):
    name = "none"
    summary = "One virtual channel"

    def assign(self, table):
        return table


class Stack(LayersPlugin):
    name = "stack"
    summary = "Some virtual channels"

    class Parameters(Parameters):
        height: int = parameter(2, ge=1, description="virtual channels")

    def assign(self, table):
        return table


class Whole(RoutingPlugin):
    name = "whole"
    summary = "A complete algorithm"

    class Parameters(Parameters):
        depth: int = parameter(1, description="how deep it looks")

    def route(self, topology):
        raise NotImplementedError


class Published(Composition):
    name = "published"
    summary = "A composition that leaves two seeds open"
    rules = "turns~admit=many"
    selection = "pick"


class Settled(Composition):
    name = "settled"
    summary = "A composition that leaves one seed open"
    rules = "turns~seed=5"
    selection = "pick"
    layers = "stack"
"""

ZOO_POINTS = {
    "topology": {"grid": "zoo:Grid", "bare": "zoo:Bare"},
    "rules": {"turns": "zoo:Turns"},
    "selection": {"pick": "zoo:Pick"},
    "layers": {"none": "zoo:NoLayers", "stack": "zoo:Stack"},
    "routing": {
        "whole": "zoo:Whole",
        "published": "zoo:Published",
        "settled": "zoo:Settled",
    },
}


class Site:
    """A folder on the import path that distributions are installed into."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: set[str] = set()

    def install(
        self,
        distribution: str,
        points: Mapping[str, Mapping[str, str]],
        files: Mapping[str, str],
        version: str = "1.0",
    ) -> None:
        """Write modules, metadata and entry points (by kind and key)."""
        for name, source in files.items():
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)
            self.modules.add(Path(name).parts[0].partition(".")[0])
        groups = {f"routelab.{kind}": keys for kind, keys in points.items()}
        write_distribution(self.folder, distribution, groups, version)
        importlib.invalidate_caches()
        # it looks again only if the time of the folder differs, which some kernels count in 10 ms
        importlib.metadata.MetadataPathFinder().invalidate_caches()

    def catalogue(self) -> Catalogue:
        """The plugins of this folder and no others."""
        return Catalogue(self._points())

    def hide_others(self, monkeypatch: pytest.MonkeyPatch) -> Catalogue:
        """Let `installed_catalogue` have the plugins that this folder has now, and no others.

        What it reads is replaced, not the function: a module that is imported meanwhile would keep
        a replaced function for all later tests.
        """
        points = importlib.metadata.EntryPoints(self._points())
        monkeypatch.setattr(catalogue_module, "entry_points", lambda: points)
        installed_catalogue.cache_clear()
        return installed_catalogue()

    def forget(self) -> None:
        """Forget what this process remembers of plugins and their files."""
        sources.forget()
        for remembered in (
            *(distribution_version, distribution_of),
            *(fingerprint._plugin_facts, fingerprint._page_digest, installed_catalogue),
            columns._all_columns,
        ):
            remembered.cache_clear()

    def _points(self) -> Iterator[importlib.metadata.EntryPoint]:
        for distribution in importlib.metadata.distributions(path=[str(self.folder)]):
            yield from distribution.entry_points


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    site = Site(folder)
    site.forget()
    yield site
    site.forget()
    for name in list(sys.modules):
        if name.partition(".")[0] in site.modules:
            del sys.modules[name]


@pytest.fixture
def zoo(site: Site) -> Catalogue:
    """A catalogue of sound plugins of most kinds."""
    site.install("zoo-plugins", ZOO_POINTS, {"zoo.py": ZOO})
    return site.catalogue()

"""Catalogue of the installed plugins, loaded on use and quarantined if broken."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from typing import Literal

from routelab.api import (
    KINDS,
    Composition,
    InputError,
    Plugin,
    PluginError,
)
from routelab.registry.contract import abi_hint, check_contract, composition_names
from routelab.registry.names import Name
from routelab.registry.parameters import default_problems
from routelab.registry.suggest import did_you_mean

_GROUP_PREFIX = "routelab."
"""Begin of the entry-point groups of plugins, such as ``routelab.topology``."""
_OTHER_GROUPS = ("routelab.columns",)
"""Groups of entry points with this prefix that are not plugins."""


class QuarantinedError(InputError):
    """An installed plugin cannot be used; the text names its distribution and the cause.

    The name of such a plugin is valid, so a study that uses it keeps its other results.
    """


@dataclass(frozen=True)
class CatalogueEntry:
    """A registered plugin.

    Attributes
    ----------
    kind, key : str
    distribution, version : str
        Distribution that registers the plugin.
    value : str
        Module and class in the entry point, as ``package.module:Class``.
    status : {"ok", "broken", "duplicate"}
        ``broken``: it cannot be imported, or does not fulfil the contract. ``duplicate``: it is
        registered more than once.
    cause : str
        Why the plugin is not ok: one message that names the plugin and its distribution.
    plugin : class or None
        None if the plugin is not ok.
    """

    kind: str
    key: str
    distribution: str
    version: str
    value: str
    status: Literal["ok", "broken", "duplicate"]
    cause: str = ""
    plugin: type[Plugin] | None = field(default=None, compare=False)


class Catalogue:
    """The plugins of some entry points.

    `keys` and `kinds_of` import no plugin. `entries`, `entry` and `plugin` import the modules of
    the plugins that they return, once. An error in one plugin does not affect other plugins.

    Parameters
    ----------
    points : iterable of EntryPoint
        Entry points whose group does not start with ``routelab.`` are ignored.
    """

    def __init__(self, points: Iterable[EntryPoint]) -> None:
        # Both are by kind and key. A plugin that is registered more than once has several items.
        self._points: dict[tuple[str, str], list[EntryPoint]] = {}
        self._entries: dict[tuple[str, str], list[CatalogueEntry]] = {}
        for point in points:
            if point.group.startswith(_GROUP_PREFIX) and point.group not in _OTHER_GROUPS:
                kind = point.group.removeprefix(_GROUP_PREFIX)
                self._points.setdefault((kind, point.name), []).append(point)

    def keys(self, kind: str) -> list[str]:
        """Return the keys of a kind in alphabetical order; imports no plugin.

        Raises
        ------
        InputError
            If the kind does not exist.
        """
        _check_kind(kind)
        return sorted(key for point_kind, key in self._points if point_kind == kind)

    def kinds_of(self, key: str) -> list[str]:
        """Return the kinds that have a plugin `key`; imports no plugin."""
        return sorted(kind for kind, point_key in self._points if point_key == key)

    def entries(self, kind: str | None = None, key: str | None = None) -> list[CatalogueEntry]:
        """Load and list all plugins (of a kind, with a key).

        They are in the order of `KINDS`, and in alphabetical order within a kind. Plugins of a kind
        that does not exist come last, as broken ones. A plugin that two distributions register
        occurs twice.

        Raises
        ------
        InputError
            If the kind does not exist.
        """
        if kind is not None:
            _check_kind(kind)
        known_kinds = list(KINDS)

        def sort_key(name: tuple[str, str]) -> tuple[int, tuple[str, str]]:
            point_kind, _ = name
            is_known = point_kind in known_kinds
            return known_kinds.index(point_kind) if is_known else len(known_kinds), name

        names = [
            (point_kind, point_key)
            for point_kind, point_key in self._points
            if kind in (None, point_kind) and key in (None, point_key)
        ]
        names.sort(key=sort_key)
        return [
            entry
            for point_kind, point_key in names
            for entry in self._load_entries(point_kind, point_key)
        ]

    def entry(self, kind: str, key: str) -> CatalogueEntry:
        """Load a plugin; the first one if several distributions register it.

        Raises
        ------
        InputError
            If the kind or plugin does not exist.
        """
        if (kind, key) not in self._points:
            raise InputError(self._unknown_plugin_text(kind, key))
        return self._load_entries(kind, key)[0]

    def plugin(self, kind: str, key: str) -> type[Plugin]:
        """Return the class of a plugin for use.

        Raises
        ------
        InputError
            If the plugin does not exist.
        QuarantinedError
            If the plugin is broken, or two distributions register it.
        """
        entry = self.entry(kind, key)
        if entry.plugin is None:
            state = "is broken" if entry.status == "broken" else "is ambiguous"
            raise QuarantinedError(
                f"{kind} {key!r} cannot be used, its plugin {state}: {entry.cause}"
            )
        return entry.plugin

    def _unknown_plugin_text(self, kind: str, key: str) -> str:
        """Return the message about a plugin that does not exist; refuse an unknown kind."""
        keys = self.keys(kind)  # raises InputError if the kind is unknown
        other_kinds = self.kinds_of(key)
        if other_kinds:
            hint = f"; {key!r} is a plugin of kind {' and '.join(other_kinds)}"
        else:
            hint = did_you_mean(key, keys)
        return f"no {kind} plugin is called {key!r}{hint} (see `routelab plugins list {kind}`)"

    def _load_entries(self, kind: str, key: str) -> list[CatalogueEntry]:
        """Load a plugin once, and return its entry; entries of all duplicates if there are any."""
        name = kind, key
        if name not in self._entries:
            points = self._points[name]
            if len(points) == 1:
                self._entries[name] = [self._load(kind, points[0])]
            else:
                self._entries[name] = _duplicate_entries(kind, points)
        return self._entries[name]

    def _load(self, kind: str, point: EntryPoint) -> CatalogueEntry:
        """Return the entry of a plugin, as ``broken`` with the cause if it cannot be used."""
        distribution, version = _distribution(point)
        label = f"plugin {kind}/{point.name} of {distribution} {version} ({point.value})"
        plugin: type[Plugin] | None = None
        cause = ""
        try:
            _check_registration(kind, point, label)
            candidate = check_contract(_import(point, label), kind, key=point.name, label=label)
            if issubclass(candidate, Composition):
                self._check_parts(candidate, label)
            plugin = candidate
        except PluginError as error:
            cause = str(error)
        except MemoryError:
            raise  # the memory limit of the job that loads the plugin, not a fault of the plugin
        except (Exception, SystemExit) as error:
            # a class can be so unusual that the checks raise exceptions
            cause = f"{label}: cannot be checked: {_describe(error)}"
        return CatalogueEntry(
            kind,
            key=point.name,
            distribution=distribution,
            version=version,
            value=point.value,
            status="broken" if plugin is None else "ok",
            cause=cause,
            plugin=plugin,
        )

    def _check_parts(self, composition: type[Composition], label: str) -> None:
        """Refuse a composition if a part does not exist or its name has invalid parameters.

        Parameters that the names leave open may be required: users give them with the routing.
        """
        problems = []
        for kind, name in composition_names(composition).items():
            try:
                plugin = self.plugin(kind, name.key)
                part_problems = default_problems(plugin.Parameters, dict(name.parameters))
            except InputError as error:
                part_problems = [str(error)]
            problems += [
                f"expected to use {kind} {str(name)!r}, found {text}" for text in part_problems
            ]
        if problems:
            raise PluginError(f"{label}: {'; '.join(problems)}")


@cache
def installed_catalogue() -> Catalogue:
    """Return the installed plugins; the process looks them up once."""
    points = entry_points()
    return Catalogue(point for group in points.groups for point in points.select(group=group))


def _check_kind(kind: str) -> None:
    """Refuse a kind of plugin that does not exist."""
    if kind not in KINDS:
        raise InputError(
            f"unknown kind of plugin: {kind!r}{did_you_mean(kind, KINDS)} (kinds: "
            f"{', '.join(KINDS)})"
        )


def _check_registration(kind: str, point: EntryPoint, label: str) -> None:
    """Refuse an entry point whose kind does not exist, or whose name cannot be a key."""
    try:
        _check_kind(kind)
        Name(point.name)
    except InputError as error:
        raise PluginError(f"{label}: {error}") from None


def _distribution(point: EntryPoint) -> tuple[str, str]:
    """Return name and version of the distribution that registers an entry point."""
    return _name_and_version(point.dist) if point.dist else ("unknown", "unknown")


@cache
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    # cached, because each of the two attributes reads and parses the metadata again
    return distribution.name, distribution.version


def _duplicate_entries(kind: str, points: list[EntryPoint]) -> list[CatalogueEntry]:
    """Return the entries of a plugin that is registered more than once; none can be used."""
    owners = " and ".join(f"{' '.join(_distribution(point))} ({point.value})" for point in points)
    key = points[0].name
    cause = f"plugin {kind}/{key} is registered more than once, by {owners}; uninstall all but one"
    entries = []
    for point in points:
        distribution, version = _distribution(point)
        entries.append(
            CatalogueEntry(
                kind,
                key=key,
                distribution=distribution,
                version=version,
                value=point.value,
                status="duplicate",
                cause=cause,
            )
        )
    return entries


def _import(point: EntryPoint, label: str) -> object:
    """Load an entry point; turn any error into a PluginError.

    What the module prints goes to standard error: standard output has the results of commands.
    """
    try:
        with redirect_stdout(sys.stderr):
            return point.load()
    except BaseException as error:  # also SystemExit, of a module that calls `sys.exit`
        # the user's interrupt and the memory limit of the job are no faults of the plugin
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        # The author needs the line that failed: the innermost frame that is not of importlib. The
        # first frame is this function, so if it is the only one, no line of the plugin failed.
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "importlib" not in frame.filename
        ]
        location = f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""
        raise PluginError(
            f"{label}: expected an importable class, found {_describe(error)}{location}"
            f"{abi_hint(error)}"
        ) from error


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"

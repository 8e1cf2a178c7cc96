"""The installed plugins: found by their entry points, loaded when used, quarantined when broken."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Literal

from routelab.api import (
    KINDS,
    Composition,
    ContextMetricPlugin,
    InputError,
    Plugin,
    PluginError,
)
from routelab.registry.contract import abi_hint, checked, composition_names
from routelab.registry.names import Name
from routelab.registry.parameters import default_problems
from routelab.registry.suggest import did_you_mean

_GROUP = "routelab."
_NO_PLUGINS = ("routelab.columns",)
"""Groups of entry points that do not lead to plugins."""


class QuarantinedError(InputError):
    """A plugin is installed and cannot be used; the text names its distribution and the cause.

    The name of such a plugin is right, so a study that uses it keeps its other results.
    """


@dataclass(frozen=True)
class Entry:
    """A registered plugin.

    Attributes
    ----------
    kind, key : str
    distribution, version : str
        Who registers it.
    value : str
        Module and class, as the distribution states them.
    status : {"ok", "broken", "duplicate"}
    cause : str
        Why it is not ok: one message that names the plugin and its distribution.
    plugin : class or None
        None unless it is ok.
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

    Keys are known without importing anything; a plugin's module is imported when its entry is
    asked for. Whatever goes wrong with one plugin stays with that plugin.

    Parameters
    ----------
    points : iterable of EntryPoint
        Those whose group does not start with ``routelab.`` are left out.
    """

    def __init__(self, points: Iterable[EntryPoint]) -> None:
        self._points: dict[tuple[str, str], list[EntryPoint]] = {}
        for point in points:
            if point.group.startswith(_GROUP) and point.group not in _NO_PLUGINS:
                kind = point.group.removeprefix(_GROUP)
                self._points.setdefault((kind, point.name), []).append(point)
        self._entries: dict[tuple[str, str], list[Entry]] = {}

    def keys(self, kind: str) -> list[str]:
        """Keys of a kind in alphabetical order; imports no plugin.

        Raises
        ------
        InputError
            If there is no such kind.
        """
        _check_kind(kind)
        return sorted(key for other, key in self._points if other == kind)

    def kinds_of(self, key: str) -> list[str]:
        """Kinds that have a plugin called `key`; imports no plugin."""
        return sorted(kind for kind, other in self._points if other == key)

    def entries(self, kind: str | None = None, key: str | None = None) -> list[Entry]:
        """All plugins (of a kind, called `key`), loaded, in order of kind and key.

        Plugins that two distributions register are in it twice.

        Raises
        ------
        InputError
            If there is no such kind.
        """
        if kind is not None:
            _check_kind(kind)
        order = list(KINDS)
        names = sorted(
            (name for name in self._points if kind in (None, name[0]) and key in (None, name[1])),
            key=lambda name: (order.index(name[0]) if name[0] in KINDS else len(order), name),
        )
        return [entry for name in names for entry in self._all(*name)]

    def entry(self, kind: str, key: str) -> Entry:
        """One plugin, loaded; the first one if several distributions register it.

        Raises
        ------
        InputError
            If there is no such kind or plugin.
        """
        if (kind, key) not in self._points:
            raise InputError(self._unknown(kind, key))
        return self._all(kind, key)[0]

    def plugin(self, kind: str, key: str) -> type[Plugin]:
        """The class of a plugin that is to be used.

        Raises
        ------
        InputError
            If it does not exist.
        QuarantinedError
            If it is broken, or two distributions register it.
        """
        entry = self.entry(kind, key)
        if entry.plugin is None:
            state = "is broken" if entry.status == "broken" else "is ambiguous"
            raise QuarantinedError(
                f"{kind} {key!r} cannot be used, its plugin {state}: {entry.cause}"
            )
        return entry.plugin

    def default_metrics(self) -> list[str]:
        """Keys of the metrics that run where none are named; loads all of them."""
        return [
            entry.key
            for entry in self.entries("metric")
            if entry.plugin is not None
            and issubclass(entry.plugin, ContextMetricPlugin)
            and entry.plugin.by_default
        ]

    def _unknown(self, kind: str, key: str) -> str:
        known = self.keys(kind)
        others = self.kinds_of(key)
        if others:
            hint = f"; {key!r} is a plugin of kind {' and '.join(others)}"
        else:
            hint = did_you_mean(key, known)
        return f"no {kind} plugin is called {key!r}{hint} (see `routelab plugins list {kind}`)"

    def _all(self, kind: str, key: str) -> list[Entry]:
        name = kind, key
        if name not in self._entries:
            points = self._points[name]
            if len(points) == 1:
                self._entries[name] = [self._load(kind, points[0])]
            else:
                self._entries[name] = _duplicates(kind, points)
        return self._entries[name]

    def _load(self, kind: str, point: EntryPoint) -> Entry:
        label = _label(kind, point)
        try:
            _check_registration(kind, point, label)
            plugin = checked(_import(point, label), kind, point.name, label)
            if issubclass(plugin, Composition):
                self._check_parts(plugin, label)
        except PluginError as error:
            cause = str(error)
        except Exception as error:
            # a class can be odd enough to break the questions that are asked about it
            cause = f"{label}: expected to be able to check it, found {_told(error)}"
        else:
            return Entry(kind, point.name, *_origin(point), point.value, "ok", plugin=plugin)
        return Entry(kind, point.name, *_origin(point), point.value, "broken", cause)

    def _check_parts(self, composition: type[Composition], label: str) -> None:
        problems = []
        for kind, name in composition_names(composition).items():
            try:
                plugin = self.plugin(kind, name.key)
                found = default_problems(plugin.Parameters, dict(name.parameters))
            except InputError as error:
                found = [str(error)]
            problems += [f"expected to use {kind} {str(name)!r}, found {text}" for text in found]
        if problems:
            raise PluginError(f"{label}: {'; '.join(problems)}")


@cache
def installed() -> Catalogue:
    """The plugins that are installed beside routelab, looked up once a process."""
    points = entry_points()
    return Catalogue(point for group in points.groups for point in points.select(group=group))


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(
            f"there is no kind of plugin called {kind!r}{did_you_mean(kind, KINDS)} "
            f"(kinds: {', '.join(KINDS)})"
        )


def _check_registration(kind: str, point: EntryPoint, label: str) -> None:
    try:
        _check_kind(kind)
        Name(point.name)
    except InputError as error:
        raise PluginError(f"{label}: {error}") from None


def _origin(point: EntryPoint) -> tuple[str, str]:
    return (point.dist.name, point.dist.version) if point.dist else ("unknown", "unknown")


def _label(kind: str, point: EntryPoint) -> str:
    return f"plugin {kind}/{point.name} of {' '.join(_origin(point))} ({point.value})"


def _duplicates(kind: str, points: list[EntryPoint]) -> list[Entry]:
    owners = " and ".join(f"{' '.join(_origin(point))} ({point.value})" for point in points)
    cause = f"plugin {kind}/{points[0].name} is registered more than once, by {owners}"
    mend = "uninstall all but one"
    return [
        Entry(kind, point.name, *_origin(point), point.value, "duplicate", f"{cause}; {mend}")
        for point in points
    ]


def _import(point: EntryPoint, label: str) -> object:
    try:
        return point.load()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        # the innermost frame is where the author has to look; importlib's own say nothing
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "importlib" not in frame.filename
        ]
        place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames[1:] else ""
        raise PluginError(
            f"{label}: expected an importable class, found {_told(error)}{place}{abi_hint(error)}"
        ) from error


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"

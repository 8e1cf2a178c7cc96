"""Registry of all columns: those of the core and those of plugins."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import entry_points

from routelab.api import Column, Plugin, PluginError
from routelab.registry.catalogue import CatalogueEntry, installed_catalogue

GROUP = "routelab.columns"
"""Entry-point group of the core's columns; each entry point is a tuple of `Column`."""


logger = logging.getLogger(__name__)


class Columns:
    """Columns by name and by the kind of rows that have them, such as ``routes``.

    Two kinds of rows may have different columns of one name. `routelab.api.columns.Rows` lists the
    kinds.

    Parameters
    ----------
    columns : iterable of Column
        If two columns have the same name and the same kind of rows, the first one counts.
    load_more : callable, optional
        Returns further columns. It imports plugins, so it is called only when a name is not found
        among `columns`, or when a complete list is requested.
    """

    def __init__(
        self, columns: Iterable[Column], load_more: Callable[[], Iterable[Column]] | None = None
    ) -> None:
        # by kind of rows and name of the column
        self._columns: dict[tuple[str, str], Column] = {}
        self._load_more = load_more
        self._add(columns)

    def _add(self, columns: Iterable[Column]) -> None:
        for column in columns:
            for row_kind in column.of:
                self._columns.setdefault((row_kind, column.name), column)

    def _add_more(self) -> None:
        """Add the further columns, if that has not been done."""
        if self._load_more is not None:
            load_more, self._load_more = self._load_more, None
            self._add(load_more())

    def find(self, name: str, row_kind: str = "") -> Column | None:
        """Return the column of this name for a kind of rows (default: any); None if not found."""
        column = self._look_up(name, row_kind)
        if column is None and self._load_more is not None:
            self._add_more()
            column = self._look_up(name, row_kind)
        return column

    def _look_up(self, name: str, row_kind: str) -> Column | None:
        """Search the columns that have been added so far; an empty kind of rows is any kind."""
        if row_kind:
            return self._columns.get((row_kind, name))
        return next(
            (column for (_, column_name), column in self._columns.items() if column_name == name),
            None,
        )

    def of(self, row_kind: str) -> dict[str, Column]:
        """Return the columns of a kind of rows by name, in the order of their declaration."""
        self._add_more()
        return {
            name: column
            for (column_row_kind, name), column in self._columns.items()
            if column_row_kind == row_kind
        }

    def rows_of(self, name: str) -> list[str]:
        """List the kinds of rows that have a column of this name."""
        self._add_more()
        return [row_kind for row_kind, column_name in self._columns if column_name == name]

    def __iter__(self) -> Iterator[Column]:
        """Iterate over all columns, each once."""
        self._add_more()
        # a column of several kinds of rows is there several times
        return iter(dict.fromkeys(self._columns.values()))


@cache
def core_columns() -> tuple[Column, ...]:
    """List the columns that routelab itself declares, besides those of its plugins.

    If the columns of an entry point cannot be used, they are left out, and a warning names it.
    """
    columns: list[Column] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            new_columns = point.load()
            if not isinstance(new_columns, tuple) or not all(
                isinstance(column, Column) for column in new_columns
            ):
                raise PluginError("it is not a tuple of Column")
            if problems := [column.problem for column in new_columns if column.problem]:
                raise PluginError("; ".join(problems))
            columns += new_columns
        except (Exception, SystemExit) as error:
            logger.warning(
                "%s: %s (%s) cannot be used: %s: %s; all other columns are there",
                GROUP,
                point.name,
                point.value,
                type(error).__name__,
                error,
            )
    return tuple(columns)


def plugin_columns(plugins: Iterable[Plugin]) -> Iterator[Column]:
    """Iterate over the columns of plugin instances."""
    for plugin in plugins:
        yield from columns_of(plugin)


def columns_of(plugin: Plugin) -> tuple[Column, ...]:
    """List the columns of a plugin instance, which may depend on its parameters.

    Raises
    ------
    PluginError
        If `list_columns` raises an exception, or returns anything but columns without a problem.
    """
    try:
        columns = tuple(plugin.list_columns())
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"{plugin.name}: list_columns() raised {type(error).__name__}: {error}"
        ) from error
    for column in columns:
        if not isinstance(column, Column):
            raise PluginError(
                f"{plugin.name}: list_columns() returned {column!r}, expected a Column"
            )
        if column.problem:
            raise PluginError(f"{plugin.name}: list_columns() returned {column.problem}")
    return columns


def default_metrics() -> list[str]:
    """Return the keys of the metrics that are measured if none are named; loads all metrics.

    If two metrics have the same column, only the first is measured; see `metric_clashes`.
    """
    left_out = left_out_metrics()
    return [entry.key for entry in _by_default_entries() if entry.key not in left_out]


def left_out_metrics() -> dict[str, str]:
    """Return why a metric with `by_default` is not measured if none are named, by its key.

    The reason is always that an earlier one, or every route table, has a column of the same name.
    """
    return _find_clashes(_by_default_entries())


def metric_clashes() -> dict[str, str]:
    """Return which column an installed metric has in common with an earlier one, by its key.

    The metrics of routelab come first, then the others in alphabetical order. Facts of every route
    table, such as `max_load`, are columns, too. Only routelab's own metrics may have these: they
    compute the same numbers.
    """
    return _find_clashes(_metric_entries())


def _find_clashes(metrics: Iterable[CatalogueEntry]) -> dict[str, str]:
    """Return a message for each metric that has a column of an earlier one, by the metric's key.

    `metrics` are in alphabetical order; `metric_clashes` says which of them are earlier. A metric
    with a clash is measured only if it is named, so it reserves none of its columns: later metrics
    may have them.
    """
    routelab = __name__.partition(".")[0]
    # Both say, by the name of a column, who has it, in the words of the message.
    table_facts = {
        column.name: "route tables" for column in core_columns() if "routes" in column.of
    }
    owners: dict[str, str] = {}
    clashes = {}
    # routelab's first: False sorts before True, and the order among equal ones stays
    for entry in sorted(metrics, key=lambda entry: entry.distribution != routelab):
        assert entry.plugin is not None
        label = f"metric {entry.key!r} of {entry.distribution} {entry.version}"
        columns = [column.name for column in entry.plugin.columns]
        reserved = owners if entry.distribution == routelab else table_facts | owners
        if common := [name for name in columns if name in reserved]:
            clashes[entry.key] = f"{label} has the column {common[0]!r}, as {reserved[common[0]]}"
        else:
            owners |= dict.fromkeys(columns, label)
    return clashes


def _by_default_entries() -> list[CatalogueEntry]:
    return [entry for entry in _metric_entries() if getattr(entry.plugin, "by_default", False)]


def _metric_entries() -> list[CatalogueEntry]:
    """Return the installed metrics that can be used, by key."""
    return [entry for entry in installed_catalogue().entries("metric") if entry.plugin is not None]


_study_columns: ContextVar[Columns | None] = ContextVar("study_columns", default=None)


@contextmanager
def only_columns_of(plugins: Iterable[Plugin]) -> Iterator[None]:
    """Let `installed_columns` return the columns of the core and of these plugins only.

    The report of a study uses this with the plugins of the study, to save time. It asks for many
    names that are no columns, such as parameters; without it, the first of them would import all
    installed plugins to search their columns.
    """
    token = _study_columns.set(Columns((*core_columns(), *plugin_columns(plugins))))
    try:
        yield
    finally:
        _study_columns.reset(token)


def installed_columns() -> Columns:
    """Return the columns of the core and of all plugins with default parameters.

    Within `only_columns_of`, return those of the core and of the plugins named there.
    """
    return _study_columns.get() or _all_columns()


@cache
def _all_columns() -> Columns:
    return Columns(core_columns(), load_more=_class_columns)


def _class_columns() -> Iterator[Column]:
    """Yield the columns that the classes of all usable plugins declare; imports all plugins."""
    for entry in installed_catalogue().entries():
        if entry.plugin is not None:
            yield from entry.plugin.columns

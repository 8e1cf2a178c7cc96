"""Check the columns that the tables and figures of a study name, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from routelab.api import Column, EnginePlugin, Plugin
from routelab.api.engine import FACTS
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.columns import (
    Columns,
    columns_of,
    core_columns,
    installed_columns,
    plugin_columns,
)
from routelab.registry.suggest import closest
from routelab.routing.fact_columns import SHAPE
from routelab.study import Bound, Figure, Study, Table
from routelab.study.bench_settings import BenchSettings
from routelab.study.errors import suggestion
from routelab.study.view_columns import named_columns, setting_text
from routelab.study.views import DETAILS, STATISTICS
from routelab.workflow.parts.instances import Instance
from routelab.workflow.parts.study_plugins import Parts

_WORK = {
    "simulations": ("traffic", "traffic", "simulation"),
    "flows": ("workload", "workloads", "flow"),
    "benchmarks": ("benchmark", "benchmarks", "bench"),
}
"""For each kind of runs other than routes: the kind of plugin that is run, the study's list of such
plugins, and the study's key with the settings."""

_RUNS_OF_DETAILS = {
    "loads": "simulations",
    "terminals": "simulations",
    "latencies": "simulations",
    "channels": "simulations",
    "flow-channels": "flows",
    "flow-ranks": "flows",
    "flow-pairs": "flows",
}
"""Kind of runs that detailed rows, and the loads of a simulation, belong to."""

_RECOMMENDATION_ORDER = (
    *("loads", "simulations", "flows", "benchmarks", "routes"),
    *("channels", "terminals", "latencies", "flow-channels", "flow-ranks", "flow-pairs"),
)
"""Rows in the order in which messages recommend them: whole runs, then their details."""

_COMPARISON_ENDINGS = ("reference", "ratio", "gain", "group")
"""Endings of the columns that `relative` adds to the compared column."""

_CHANNEL_FIGURES = ("ecdf", "histogram", "ranked", "box", "heat", "network")
"""Kinds of figure that show the channels of a table where `of` is ``routes``."""

_UNDECLARED = {"run"}
"""Columns that all rows have without a declaration: the number of the row."""


def column_mistakes(parts: Parts, *, complete: bool = True) -> Iterator[str]:
    """Find columns that do not exist, belong to other rows, or are not produced by the study.

    Parameters
    ----------
    parts : Parts
    complete : bool, optional
        Whether all plugins that the study names are known. If not, a column is only reported if
        no installed plugin has a column or parameter of this name.

    Yields
    ------
    str
        One line each: place, problem, fix.
    """
    study = parts.study
    views: tuple[tuple[str, Mapping[str, Table | Figure]], ...] = (
        ("tables", study.tables),
        ("figures", study.figures),
    )
    available = _AvailableColumns(parts)
    # An unknown name may be a misspelled one: then its columns and parameters are those of any
    # installed plugin.
    possible_names: set[str] = set()
    if not complete:
        plugins = (entry.plugin for entry in installed_catalogue().entries())
        fields = (plugin.Parameters.model_fields for plugin in plugins if plugin is not None)
        possible_names = {name.removesuffix("_") for names in fields for name in names}
        possible_names |= {column.name for column in installed_columns()}
    yield from available.clashes()
    for part, part_views in views:
        for name, view in part_views.items():
            for key, column in named_columns(view):
                problem = available.problem(column, view)
                if problem and column not in possible_names:
                    yield f"{study.place(part, name, key)}{problem}"
            for parameter in view.over:
                if parameter not in available.parameters(view.of) | possible_names:
                    hint = suggestion(parameter, available.parameters(view.of))
                    yield f"{study.place(part, name, 'over')}no parameter {parameter!r}{hint}"


class _AvailableColumns:
    """Columns and parameters of the rows of a study."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._study: Study = parts.study

    @cached_property
    def _columns(self) -> Columns:
        """Return the columns of the core and of the plugins that the study uses."""
        plugins = [plugin for _, plugin in self._plugins]
        return Columns([*core_columns(), *plugin_columns(plugins)])

    @cached_property
    def _plugins(self) -> list[tuple[str, Plugin]]:
        """Return the plugins that declare columns, each with the study's key that names it."""
        parts = self._parts
        instances_of = {"topologies": parts.topologies, "routings": parts.routings}
        instances_of["metrics"] = parts.metrics
        return [
            *(
                (key, plugin)
                for key, instances in instances_of.items()
                for instance in instances.values()
                for plugin in instance.plugins
            ),
            *(("simulation", engine) for engine in self._engines("simulations")),
            *(("flow", engine) for engine in self._engines("flows")),
        ]

    def clashes(self) -> Iterator[str]:
        """Find columns that two producers declare with another unit, direction or pooling."""
        # Of the core's columns only those of routes take part: `channels` of the core are those of
        # a table, and `channels` of an engine those of a simulation. Their columns may differ.
        route_columns = [column for column in core_columns() if "routes" in column.of]
        declared = {("routes", column.name): (column, "routelab") for column in route_columns}
        mistakes: dict[str, None] = {}  # several kinds of rows may have the same clash
        for key, plugin in self._plugins:
            for column in columns_of(plugin):
                for rows in column.of:
                    earlier, owner = declared.setdefault((rows, column.name), (column, plugin.name))
                    if _meaning(earlier) != _meaning(column):
                        mistakes[
                            f"{self._study.place(key)}{plugin.kind} '{plugin.name}' declares the "
                            f"column {column.name!r} otherwise than {owner!r} (unit, better or "
                            "seeds); leave one of them out"
                        ] = None
        yield from mistakes

    def _engines(self, base: str) -> Sequence[EnginePlugin]:
        """Return the engines, with settings, that produce rows."""
        if base == "simulations":
            return self._study.settings
        if base == "flows":
            return [engine for engines in self._study.flows.values() for engine in engines]
        return []

    def problem(self, name: str, view: Table | Figure) -> str | None:
        """Return why the rows of a view lack a column; None if they have it."""
        base = _base_rows(view.of)
        if name in self.parameters(view.of) or _is_compared(name, view):
            return None
        # a detail also has the columns of its load (if any), its run, and the routes of the run
        rows = [view.of, *(() if view.of == base else ("loads", base)), "routes"]
        if isinstance(view, Figure) and view.kind in _CHANNEL_FIGURES and view.of == "routes":
            rows.insert(0, "channels")
        declared = next(
            (row_column for row in rows if (row_column := self._columns.find(name, row))), None
        )
        if declared is not None:
            lack = self._unmet_need(declared, view)
            return f"column {name!r}: {lack}" if lack else None
        return self._explain_absence(name, rows, view)

    def _unmet_need(self, column: Column, view: Table | Figure) -> str | None:
        """Return what a declared column needs and the study or view lacks; None if nothing."""
        if column.needs == "relative":
            return None if view.relative else "needs 'relative' in this view"
        if column.needs == "bound":
            return None if self._study.bound else "needs 'bound' in the study; add 'bound: true'"
        if column in SHAPE and self._study.survey:
            return "surveys do not measure networks; use a study without 'survey'"
        if column.needs in ("any_length", "any_routing"):
            bound = self._study.bound
            if isinstance(bound, Bound) and getattr(bound, column.needs):
                return None
            what = "routes of any length" if column.needs == "any_length" else "any routing"
            return f"needs bounds for {what}; add 'bound: {{{column.needs}: true}}'"
        return _missing_setting(column.name, view.of, self._engines(_base_rows(view.of)))

    def _explain_absence(self, name: str, rows: Sequence[str], view: Table | Figure) -> str:
        """Return why no row of a view has a column, with the easiest way to get it.

        Parameters
        ----------
        name : str
            The column.
        rows : sequence of str
            Kinds of rows whose columns the view may show, such as ``channels`` and ``routes``; the
            most detailed first.
        view : Table or Figure
        """
        # The easiest way comes first. 1. Other rows of the same results have the column.
        other_rows = [row for row in self._columns.rows_of(name) if row not in rows]
        if other_rows:
            nearest = min(other_rows, key=_RECOMMENDATION_ORDER.index)
            return f"column {name!r} belongs to other rows; {self._fix_for(nearest)}"
        # 2. A plugin that is installed, but not used, has it.
        for entry in installed_catalogue().entries():
            columns = entry.plugin.columns if entry.plugin is not None else ()
            column_rows = [row for column in columns if column.name == name for row in column.of]
            if column_rows:
                if entry.kind == "metric":
                    fix = "add it to 'metrics'"
                elif entry.kind == "engine":
                    fix = self._fix_for(min(column_rows, key=_RECOMMENDATION_ORDER.index))
                else:
                    fix = "add it to the study"
                return (
                    f"column {name!r} is produced by the {entry.kind} '{entry.key}', which the "
                    f"study does not use; {fix}"
                )
        # 3. A comparison in this view would add it: `latency_mean_ratio` to `latency_mean`.
        base, _, ending = name.rpartition("_")
        is_compared = ending in (*_COMPARISON_ENDINGS, *STATISTICS)
        if is_compared and installed_columns().find(base) is not None:
            if view.relative:
                compared = view.relative.column
                return f"no column {name!r}; 'relative' in this view compares {compared!r}"
            return f"no column {name!r}; columns of comparisons need 'relative' in this view"
        # 4. The name is misspelled. A figure of `routes` may show the channels of a table. They
        #    have the parameters of the table; those of `channels` would be those of simulations.
        names = {*self.parameters(rows[0] if rows[0] != "channels" else "routes")}
        for row in rows:
            names |= self._columns.of(row).keys()
        nearest_name = closest(name, names)
        if nearest_name is None:
            # The column may be that of a plugin whose columns nobody can read.
            broken = [f"{e.kind} {e.key}" for e in installed_catalogue().entries() if not e.plugin]
            hint = f" (broken plugins: {', '.join(broken)})" if broken else ""
            return f"no column {name!r}; `routelab plugins columns` lists the columns{hint}"
        lack = self.problem(nearest_name, view)
        also = f" (and then: {lack})" if lack else ""
        return f"no column {name!r}; did you mean {nearest_name!r}?{also}"

    def _fix_for(self, rows: str) -> str:
        """Return what to change in a view, and in the study, to show rows of another kind."""
        base = _base_rows(rows)
        work = "routings"
        if base in _WORK:
            _, work, _ = _WORK[base]
        fix = f"use 'of: {rows}'"
        return fix if getattr(self._study, work) else f"{fix}, and add '{work}' to the study"

    def parameters(self, of: str) -> set[str]:
        """Return the names of parameters and settings: ``routing.seed``, and ``seed`` for short."""
        base = _base_rows(of)
        qualified = {
            *_qualified_names("topology", self._parts.topologies.values()),
            *_qualified_names("routing", self._parts.routings.values()),
        }
        if base in _WORK:
            kind, work, settings = _WORK[base]
            qualified.update(_qualified_names(kind, getattr(self._parts, work).values()))
            # measurements have no engine
            models = [type(engine.parameters) for engine in self._engines(base)] or [BenchSettings]
            # excluded fields are presets; results have the settings that they stand for
            qualified |= {
                f"{settings}.{name}"
                for model in models
                for name, field in model.model_fields.items()
                if not field.exclude
            }
        return qualified | {name.partition(".")[2] for name in qualified} | _UNDECLARED


def _missing_setting(name: str, of: str, engines: Iterable[EnginePlugin]) -> str | None:
    """Return the setting that a column needs and no engine has; None if an engine has it.

    For example "needs `find_saturation`; add `find_saturation: true` in 'simulation'".
    """
    needed = None
    for engine in engines:
        for column in engine.columns:
            if column.name != name:
                continue
            # details also show a fact of their run, unless a column of their own has its name
            own_names = {c.name for c in engine.columns if of in c.of}
            is_fact = FACTS[engine.work] in column.of and name not in own_names
            if of in column.of or is_fact:
                if not column.needs or getattr(engine.parameters, column.needs):
                    return None
                text = setting_text(type(engine), column.needs)
                needed = needed or f"needs `{column.needs}`; add {text}"
    return needed


def _meaning(column: Column) -> tuple[str, str, str]:
    """Return what must agree if two producers declare one column."""
    return column.unit, column.better, column.seeds


def _base_rows(of: str) -> str:
    """Return the kind of whole runs that rows belong to."""
    return _RUNS_OF_DETAILS.get(of, of) if of in (*DETAILS, "loads") else of


def _is_compared(name: str, view: Table | Figure) -> bool:
    """Return whether `relative` adds a column to a view."""
    if view.relative is None:
        return False
    added_columns = {f"{view.relative.column}_{ending}" for ending in _COMPARISON_ENDINGS}
    return name in added_columns or name.startswith("relative_")


def _qualified_names(kind: str, instances: Iterable[Instance]) -> Iterator[str]:
    """Iterate over the parameters: ``routing.seed``, and of parts ``routing.selection.seed``."""
    for plugin in (plugin for instance in instances for plugin in instance.plugins):
        for name in plugin.Parameters.model_fields:
            bare = name.removesuffix("_")
            yield f"{kind}.{bare}"
            if plugin.kind != kind:
                yield f"{kind}.{plugin.kind}.{bare}"

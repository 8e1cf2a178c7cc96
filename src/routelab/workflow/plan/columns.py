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
    views_of_key: tuple[tuple[str, Mapping[str, Table | Figure]], ...] = (
        ("tables", study.tables),
        ("figures", study.figures),
    )
    available = _AvailableColumns(parts)
    # The name of a plugin that is not known may be a misspelled one. Any installed plugin may be
    # meant, so the columns and parameters of all of them are allowed.
    possible_names: set[str] = set()
    if not complete:
        plugins = (entry.plugin for entry in installed_catalogue().entries())
        fields = (plugin.Parameters.model_fields for plugin in plugins if plugin is not None)
        # a field's name ends with an underscore if Python or pydantic uses the parameter's name
        possible_names = {name.removesuffix("_") for names in fields for name in names}
        possible_names |= {column.name for column in installed_columns()}
    yield from available.clashes()
    for study_key, views in views_of_key:
        for name, view in views.items():
            for view_key, column in named_columns(view):
                problem = available.problem(column, view)
                if problem and column not in possible_names:
                    yield f"{study.place(study_key, name, view_key)}{problem}"
            for parameter in view.over:
                if parameter not in available.parameters(view.of) | possible_names:
                    hint = suggestion(parameter, available.parameters(view.of))
                    yield f"{study.place(study_key, name, 'over')}no parameter {parameter!r}{hint}"


class _AvailableColumns:
    """Columns and parameters of the rows of a study, by the kind of row.

    A kind of row is a value of ``of`` in a table or figure: whole runs (``routes``,
    ``simulations``), or details of them (``loads``, ``channels``).
    """

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
        instances_of = {
            "topologies": parts.topologies,
            "routings": parts.routings,
            "metrics": parts.metrics,
        }
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
        # Of the columns of routelab itself only those of routes take part. Its `channels` are those
        # of a route table, but the `channels` of an engine are those of a simulation, so columns of
        # one name may differ.
        route_columns = [column for column in core_columns() if "routes" in column.of]
        declared = {("routes", column.name): (column, "routelab") for column in route_columns}
        mistakes: dict[str, None] = {}  # several kinds of rows may have the same clash
        for key, plugin in self._plugins:
            for column in columns_of(plugin):
                for row_kind in column.of:
                    earlier, owner = declared.setdefault(
                        (row_kind, column.name), (column, plugin.name)
                    )
                    if _meaning(earlier) != _meaning(column):
                        mistake = (
                            f"{self._study.place(key)}{plugin.kind} '{plugin.name}' declares the "
                            f"column {column.name!r} otherwise than {owner!r} (unit, better or "
                            "seeds); leave one of them out"
                        )
                        mistakes[mistake] = None
        yield from mistakes

    def _engines(self, run_kind: str) -> Sequence[EnginePlugin]:
        """Return the engines, with settings, that produce runs of a kind; none for measurements."""
        if run_kind == "simulations":
            return self._study.settings
        if run_kind == "flows":
            return [engine for engines in self._study.flows.values() for engine in engines]
        return []

    def problem(self, name: str, view: Table | Figure) -> str | None:
        """Return why the rows of a view lack a column; None if they have it."""
        if name in self.parameters(view.of) or _is_added_by_relative(name, view):
            return None
        # 1. The kinds of rows whose columns the view may show. A row with a detail also has the
        #    columns of its load (if any), of its run, and of the routes of the run.
        run_kind = _run_kind(view.of)
        row_kinds = [view.of, *(() if view.of == run_kind else ("loads", run_kind)), "routes"]
        if isinstance(view, Figure) and view.kind in _CHANNEL_FIGURES and view.of == "routes":
            row_kinds.insert(0, "channels")
        # 2. The first of them that has the column.
        declarations = (self._columns.find(name, row_kind) for row_kind in row_kinds)
        declared = next(filter(None, declarations), None)
        if declared is not None:
            lack = self._unmet_need(declared, view)
            return f"column {name!r}: {lack}" if lack else None
        return self._explain_absence(name, row_kinds, view)

    def _unmet_need(self, column: Column, view: Table | Figure) -> str | None:
        """Return what a declared column needs and the study or view lacks; None if nothing.

        `Column.needs` names a key of the view, of the study or of its bounds, or a setting of an
        engine.
        """
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
            bounded = "routes of any length" if column.needs == "any_length" else "any routing"
            return f"needs bounds for {bounded}; add 'bound: {{{column.needs}: true}}'"
        return _missing_setting(column.name, view.of, self._engines(_run_kind(view.of)))

    def _explain_absence(self, name: str, row_kinds: Sequence[str], view: Table | Figure) -> str:
        """Return why no row of a view has a column, with the easiest way to get it.

        Parameters
        ----------
        name : str
            The column.
        row_kinds : sequence of str
            Kinds of rows whose columns the view may show, such as ``channels`` and ``routes``; the
            most detailed first.
        view : Table or Figure
        """
        # The easiest way comes first. 1. Other rows of the same results have the column.
        other_kinds = [kind for kind in self._columns.rows_of(name) if kind not in row_kinds]
        if other_kinds:
            nearest = min(other_kinds, key=_RECOMMENDATION_ORDER.index)
            return f"column {name!r} belongs to other rows; {self._fix_for(nearest)}"
        # 2. A plugin that is installed, but not used, has it.
        for entry in installed_catalogue().entries():
            columns = entry.plugin.columns if entry.plugin is not None else ()
            kinds_with = [kind for column in columns if column.name == name for kind in column.of]
            if kinds_with:
                if entry.kind == "metric":
                    fix = "add it to 'metrics'"
                elif entry.kind == "engine":
                    fix = self._fix_for(min(kinds_with, key=_RECOMMENDATION_ORDER.index))
                else:
                    fix = "add it to the study"
                return (
                    f"column {name!r} is produced by the {entry.kind} '{entry.key}', which the "
                    f"study does not use; {fix}"
                )
        # 3. A comparison in this view would add it: `latency_mean_ratio` to `latency_mean`.
        compared_name, _, ending = name.rpartition("_")
        is_comparison = ending in (*_COMPARISON_ENDINGS, *STATISTICS)
        if is_comparison and installed_columns().find(compared_name) is not None:
            if view.relative:
                compared = view.relative.column
                return f"no column {name!r}; 'relative' in this view compares {compared!r}"
            return f"no column {name!r}; columns of comparisons need 'relative' in this view"
        # 4. The name is misspelled. `problem` puts `channels` first for a figure that shows the
        #    channels of a route table. They have the parameters of `routes`; the parameters of
        #    `channels` would be those of simulations.
        first_kind = "routes" if row_kinds[0] == "channels" else row_kinds[0]
        names = {*self.parameters(first_kind)}
        for row_kind in row_kinds:
            names |= self._columns.of(row_kind).keys()
        nearest_name = closest(name, names)
        if nearest_name is None:
            # The column may be that of a plugin that cannot be imported.
            broken = [f"{e.kind} {e.key}" for e in installed_catalogue().entries() if not e.plugin]
            hint = f" (broken plugins: {', '.join(broken)})" if broken else ""
            return f"no column {name!r}; `routelab plugins columns` lists the columns{hint}"
        lack = self.problem(nearest_name, view)
        also = f" (and then: {lack})" if lack else ""
        return f"no column {name!r}; did you mean {nearest_name!r}?{also}"

    def _fix_for(self, row_kind: str) -> str:
        """Return what to change in a view, and in the study, to show rows of another kind."""
        run_kind = _run_kind(row_kind)
        study_list = "routings"
        if run_kind in _WORK:
            _, study_list, _ = _WORK[run_kind]
        fix = f"use 'of: {row_kind}'"
        # without traffic, for example, a study has no simulations
        has_runs = bool(getattr(self._study, study_list))
        return fix if has_runs else f"{fix}, and add '{study_list}' to the study"

    def parameters(self, row_kind: str) -> set[str]:
        """Return the parameters and settings that rows have as columns.

        Each has two names: ``routing.seed``, and ``seed`` for short. The number of the row, which
        is called ``run``, is among them.
        """
        run_kind = _run_kind(row_kind)
        qualified = {
            *_qualified_names("topology", self._parts.topologies.values()),
            *_qualified_names("routing", self._parts.routings.values()),
        }
        if run_kind in _WORK:
            plugin_kind, study_list, settings_key = _WORK[run_kind]
            instances = getattr(self._parts, study_list)
            qualified.update(_qualified_names(plugin_kind, instances.values()))
            # measurements have no engine, but settings of their own
            engines = self._engines(run_kind)
            models = [type(engine.parameters) for engine in engines] or [BenchSettings]
            # excluded fields are presets; results have the settings that they stand for
            qualified |= {
                f"{settings_key}.{name}"
                for model in models
                for name, field in model.model_fields.items()
                if not field.exclude
            }
        return qualified | {name.partition(".")[2] for name in qualified} | _UNDECLARED


def _missing_setting(name: str, row_kind: str, engines: Iterable[EnginePlugin]) -> str | None:
    """Return the setting that a column needs and that is off in all engines.

    For example "needs `find_saturation`; add `find_saturation: true` in 'simulation'". None if one
    of the engines produces the column, or if none of them ever does.
    """
    problem = None
    for engine in engines:
        for column in engine.columns:
            if column.name != name:
                continue
            # Several columns of the engine may have this name, for rows of different kinds. Details
            # show their own, or else that of their whole run.
            own_names = {c.name for c in engine.columns if row_kind in c.of}
            run_kind = FACTS[engine.work]
            is_of_run = run_kind in column.of and name not in own_names
            if row_kind in column.of or is_of_run:
                if not column.needs or getattr(engine.parameters, column.needs):
                    return None
                text = setting_text(type(engine), column.needs)
                problem = problem or f"needs `{column.needs}`; add {text}"
    return problem


def _meaning(column: Column) -> tuple[str, str, str]:
    """Return what must agree if two producers declare one column."""
    return column.unit, column.better, column.seeds


def _run_kind(row_kind: str) -> str:
    """Return the kind of whole runs that rows belong to: ``simulations`` for ``loads``."""
    is_detail = row_kind in (*DETAILS, "loads")
    return _RUNS_OF_DETAILS.get(row_kind, row_kind) if is_detail else row_kind


def _is_added_by_relative(name: str, view: Table | Figure) -> bool:
    """Return whether `relative` adds a column to a view."""
    if view.relative is None:
        return False
    added_columns = {f"{view.relative.column}_{ending}" for ending in _COMPARISON_ENDINGS}
    return name in added_columns or name.startswith("relative_")


def _qualified_names(kind: str, instances: Iterable[Instance]) -> Iterator[str]:
    """Iterate over the parameters: ``routing.seed``, and of parts ``routing.selection.seed``."""
    for plugin in (plugin for instance in instances for plugin in instance.plugins):
        for name in plugin.Parameters.model_fields:
            # a field's name ends with an underscore if Python or pydantic uses the parameter's name
            parameter = name.removesuffix("_")
            yield f"{kind}.{parameter}"
            if plugin.kind != kind:
                yield f"{kind}.{plugin.kind}.{parameter}"

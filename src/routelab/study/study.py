"""Study files."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import (
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from routelab.api import EnginePlugin
from routelab.api.engine import Work
from routelab.registry.engines import KEY
from routelab.study.bench_settings import NO_CHANGE, BenchSettings
from routelab.study.document import Document, load_document
from routelab.study.entries import Entry, StudyPart, count_instances
from routelab.study.errors import ConfigError, suggestion
from routelab.study.headline import Headline, headline_mistakes
from routelab.study.reference import Reference, load_reference
from routelab.study.simulation import DEFAULT, read_engines, read_study_settings
from routelab.study.validation import describe_mistakes
from routelab.study.views import BENCHMARKS, FLOWS, SIMULATED, Figure, Table
from routelab.toolkit.input_files import is_folder

FileName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class Limits(StudyPart):
    """Limits of one job; a job that exceeds one is stopped with that outcome."""

    seconds: float = Field(
        default=600,
        gt=0,
        description="CPU time of a job over all its threads, and of each program that it starts, "
        "in seconds",
    )
    memory_gb: float = Field(
        default=4,
        gt=0,
        description="Memory that a job may allocate, and each program that it starts, in GB of "
        "10^9 bytes",
    )

    @property
    def is_finite(self) -> bool:
        """Return whether all limits are finite."""
        return isfinite(self.seconds) and isfinite(self.memory_gb)

    def with_most_of(self, other: Limits) -> Limits:
        """Return the larger of both limits, for each limit separately."""
        return Limits(
            seconds=max(self.seconds, other.seconds),
            memory_gb=max(self.memory_gb, other.memory_gb),
        )


class Bound(StudyPart):
    """Bounds: of the maximum load under rules, and of throughput for any routing."""

    seconds: float = Field(
        default=60, gt=0, description="Approximate time limit of each search, in seconds"
    )
    exact: bool = Field(
        default=False,
        description="Also search for the exact bound with a mixed-integer program, if "
        "there are few routes",
    )
    any_length: bool = Field(
        default=False,
        description="Also bound the maximum load of all tables with routes of any length",
    )
    any_routing: bool = Field(
        default=False,
        description="Also bound the throughput of any routing for each traffic, at all simulated "
        "loads",
    )


class Survey(StudyPart):
    """Many runs with one row each instead of a folder."""

    runs: int = Field(
        default=200,
        ge=1,
        le=5000,
        description="Approximate number of runs per process; all runs of a network share a process",
    )


ENTRIES = {
    "topologies": "topology",
    "routings": "routing",
    "traffic": "traffic",
    "workloads": "workload",
    "benchmarks": "benchmark",
}
"""Lists of entries of a study, and the kinds of plugin that they name."""

ENGINES: dict[str, Work] = {"simulation": "traffic", "flow": "workload"}
"""Keys of a study with an engine and its settings, and the kind of work."""
BY_NAME = ("flow",)
"""Keys of `ENGINES` that accept a value for each workload."""

OTHER_FOLDERS = ("report", "bench", "logs")
"""Folders of `results` that do not have the results of a study."""

VIEWS = ("tables", "figures")
"""Keys of a study with views by name."""

UNREADABLE = "?"
"""Stands for an entry of a study's lists that has mistakes."""

MAX_RUNS = 100_000
"""Largest number of runs of one study; more are probably a mistake."""


class Study(StudyPart):
    """An experiment: networks × routings, and the tables and figures of its results."""

    title: str = Field(description="Heading of the report")
    cites: FileName | None = Field(
        default=None, description="Folder in references/ with the published numbers"
    )
    topologies: list[Entry] = Field(min_length=1, description="Networks")
    routings: list[Entry] = Field(min_length=1, description="Routings; each runs on every network")
    traffic: list[Entry] = Field(
        default=[],
        description="Traffic patterns; every routing is simulated with each of them on every "
        "network",
    )
    simulation: dict[str, Any] = Field(
        default={},
        description="Engine and settings of the simulations; values can be swept",
    )
    workloads: list[Entry] = Field(
        default=[],
        description="Workloads; each runs on every network with every route table",
    )
    flow: dict[str, Any] = Field(
        default={},
        description="Engine and settings of the workloads, such as the machine and the number of "
        "ranks; values can be swept",
    )
    benchmarks: list[Entry] = Field(
        default=[],
        description="Benchmarks to run on a cluster, on every network with every route table",
    )
    bench: dict[str, Any] = Field(
        default={},
        description="Settings of the benchmarks, such as the cluster and the number of rounds; "
        "values can be swept",
    )
    metrics: list[str] | None = Field(
        default=None,
        min_length=1,
        description="Metric plugins (default: all except those that run only if named)",
    )
    limits: Limits = Field(default=Limits(), description="Limits of each job")
    parts: int = Field(
        default=16,
        ge=1,
        le=4096,
        description="Largest number of parts of a stage. As many processes, or jobs of a cluster, "
        "work at a time; a survey has as many as `survey: {runs: …}` makes",
    )
    bound: Bound | bool = Field(
        default=False,
        description="Prove lower bounds for all route tables, and show them with each run",
    )
    survey: Survey | bool = Field(
        default=False,
        description="Store one row of facts per run instead of a folder; measure only the "
        "`metrics` listed here",
    )
    headline: Headline = Field(
        default=Headline(), description="The study's question, and what answers it on its page"
    )
    tables: dict[FileName, Table] = Field(
        default={}, description="Tables of the report; the name is the file name"
    )
    figures: dict[FileName, Figure] = Field(
        default={}, description="Figures of the report; the name is the file name"
    )
    notes: list[str] = Field(
        default=[], description="Paragraphs of the report that explain its numbers"
    )

    @field_validator("limits")
    @classmethod
    def _check_limits(cls, limits: Limits) -> Limits:
        if not limits.is_finite:
            raise ValueError("must be finite numbers; for a generous limit, use 1e6")
        return limits

    @model_validator(mode="after")
    def _limit_runs(self) -> Study:
        """Refuse a study that stands for more than `MAX_RUNS` runs."""
        runs = sum(map(count_instances, self.topologies)) * sum(map(count_instances, self.routings))
        # Each routing runs on each network with each of these; without any, it still runs once.
        on_each = (*self.traffic, *self.workloads, *self.benchmarks)
        runs *= max(1, sum(map(count_instances, on_each)))
        if runs > MAX_RUNS:
            raise ValueError(f"stands for {runs} runs; the limit is {MAX_RUNS}")
        return self

    @model_validator(mode="after")
    def _require_inputs_of_views(self) -> Study:
        """Refuse settings and views without anything to simulate or to measure.

        The report of a study with ``tables: {t: {of: flows}}`` needs `workloads`, for example.
        """
        views: list[tuple[str, Table | Figure]] = [
            *((f"tables.{name}", table) for name, table in self.tables.items()),
            *((f"figures.{name}", figure) for name, figure in self.figures.items()),
        ]
        # For each kind of work: the key with its entries, the key with their settings, what
        # the entries are, the kinds of row (`of`) that come from them, and a verb for messages.
        for entries_key, settings_key, description, row_kinds, verb in (
            ("traffic", "simulation", "the patterns to simulate", SIMULATED, "simulate"),
            ("workloads", "flow", "the programs to run", FLOWS, "simulate"),
            ("benchmarks", "bench", "the programs to measure", BENCHMARKS, "measure"),
        ):
            has_entries = bool(getattr(self, entries_key))
            if has_entries and self.survey:
                raise ValueError(
                    f"a survey does not {verb}: leave out '{entries_key}', or 'survey'"
                )
            if has_entries:
                continue
            if getattr(self, settings_key):
                raise ValueError(f"'{settings_key}' needs '{entries_key}': {description}")
            empty_views = [name for name, view in views if view.of in row_kinds]
            if empty_views:
                raise ValueError(
                    f"{', '.join(empty_views)}: nothing is {verb}d; add '{entries_key}'"
                )
        return self

    _document: Document = PrivateAttr()
    _reference: Reference | None = PrivateAttr(default=None)
    _settings: tuple[EnginePlugin, ...] = PrivateAttr(default=())
    _flows: Mapping[str, tuple[EnginePlugin, ...]] = PrivateAttr(default={})
    _bench_settings: tuple[BenchSettings, ...] = PrivateAttr(default=())
    _cluster: str = PrivateAttr(default="")

    @property
    def path(self) -> Path:
        """File, as the user wrote it."""
        return self._document.path

    @property
    def name(self) -> str:
        """Name of the file without its suffix, and of the report."""
        return self.path.stem

    @property
    def reference(self) -> Reference | None:
        """Reference that `cites` names."""
        return self._reference

    @property
    def settings(self) -> tuple[EnginePlugin, ...]:
        """Engines with the settings of `simulation`; none without traffic."""
        return self._settings

    @property
    def flows(self) -> Mapping[str, tuple[EnginePlugin, ...]]:
        """Engines with the settings of `flow` by workload; `DEFAULT` applies to all others."""
        return self._flows

    @property
    def bench_settings(self) -> tuple[BenchSettings, ...]:
        """Settings of `bench`: the product of its sweeps; none without benchmarks."""
        return self._bench_settings

    @property
    def cluster(self) -> str:
        """Cluster that a run names instead of the study's own ones; empty: none."""
        return self._cluster

    def place(self, *location: int | str) -> str:
        """Return ``file:line: path: `` of a part, the beginning of a message."""
        return self._document.place(location)


def load_study(path: Path | str, cluster: str = "") -> Study:
    """Read a study and the reference that it cites.

    Parameters
    ----------
    path : path
        A YAML file.
    cluster : str, optional
        Cluster to measure on instead of those of the study.

    Returns
    -------
    Study

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes, one line each.
    """
    study, mistakes = read_study(path, cluster)
    if mistakes or study is None:
        raise ConfigError(mistakes)
    return study


def read_study(path: Path | str, cluster: str = "") -> tuple[Study | None, list[str]]:
    """Read a study and the reference that it cites, as far as its mistakes allow.

    Parameters
    ----------
    path : path
        A YAML file.
    cluster : str, optional
        Cluster to measure on instead of those of the study.

    Returns
    -------
    study : Study or None
        Without its wrong parts, so that the rest can be checked; None if that is impossible.
    mistakes : list of str
        All of them, one line each.

    Raises
    ------
    ConfigError
        If the file is not a mapping in YAML.
    """
    document = load_document(Path(path))
    if not isinstance(document.data, dict):
        raise ConfigError(
            [f"{document.place(())}a study must be a mapping with title, topologies, ..."]
        )
    # 1. The settings of engines and measurements, which the model has as plain mappings.
    engines, problems = _read_engines_by_key(document)
    bench_settings_by_name, bench_problems = read_study_settings(document, "bench", BenchSettings)
    problems += bench_problems + _useless_sweep_mistakes(document, bench_settings_by_name[DEFAULT])
    # 2. The study, without its wrong parts.
    mistakes: list[str] = []
    try:
        study = Study.model_validate(document.data)
    except ValidationError as error:
        mistakes = describe_mistakes(error, document, Study)
        readable = _readable_study(document.data, error)
        if readable is None:
            return None, [*mistakes, *problems]
        study = readable
    study._document = document
    # only `flow` may have settings by workload (`BY_NAME`); those of `simulation` apply to all
    study._settings = engines["simulation"][DEFAULT] if study.traffic else ()
    study._flows = engines["flow"] if study.workloads else {}
    study._bench_settings = bench_settings_by_name[DEFAULT] if study.benchmarks else ()
    if cluster and study.benchmarks:
        study._cluster = cluster
        # Settings that differed in their cluster only become equal; each is measured once.
        updated = (bench.model_copy(update={"cluster": cluster}) for bench in study._bench_settings)
        study._bench_settings = tuple(dict.fromkeys(updated))
    mistakes += [*_file_name_mistakes(study), *problems]
    # 3. The headline, unless its table was left out as wrong: it would be reported as missing. A
    #    headline that names no table takes the first one, which may be among those left out.
    views = [part for key in VIEWS if isinstance(part := document.data.get(key), dict)]
    written_views = {*chain.from_iterable(views)}
    left_out = written_views - study.tables.keys() - study.figures.keys()
    headline_table = study.headline.table
    if not left_out or (headline_table and headline_table not in left_out):
        for key, mistake in headline_mistakes(study.headline, study.tables, study.figures):
            mistakes.append(f"{study.place('headline', key)}{mistake}")
    # 4. The cited reference.
    try:
        study._reference = _load_citation(study)
    except ConfigError as error:
        mistakes += error.mistakes
    else:
        mistakes += _reference_mistakes(study)
    return study, mistakes


def _readable_study(data: Mapping[str, Any], error: ValidationError) -> Study | None:
    """Return a study without its wrong parts; None if it cannot be read without them either.

    The first round leaves out single wrong keys and values, such as ``tables.sizes.rows[1]``. If
    what remains is still wrong, the second round leaves out whole views, such as
    ``tables.sizes``, and whole keys of the study. In both, a wrong entry of a list such as
    `routings` becomes `UNREADABLE`, so that the others keep their positions.
    """
    rest: dict[int | str, Any] = {key: copy.deepcopy(part) for key, part in data.items()}
    for is_second_round in (False, True):
        # 1. The locations of the mistakes, without the steps that are no keys of the document: the
        #    tags of a union's branches.
        locations = [
            [step for step in detail["loc"] if not str(step).startswith("<")]
            for detail in error.errors(include_url=False)
        ]
        # 2. Later items of a list come before earlier ones, whose removal would move them, and
        #    deeper locations before those around them. Numbers are padded, so that as text 10 is
        #    more than 9.
        locations.sort(
            key=lambda location: [
                f"{step:9}" if isinstance(step, int) else step for step in location
            ],
            reverse=True,
        )
        # 3. Leave out what is wrong.
        for location in locations:
            # a mistake that only the whole study shows, such as too many runs, has no location
            key, *below = location or [""]
            if key in ENTRIES and below and isinstance(rest.get(key), list):
                rest[key][below[0]] = UNREADABLE
            elif key == "title":
                rest["title"] = ""  # a study must have one
            elif is_second_round and key in VIEWS and below:
                _remove_part(rest, location[:2])  # the key and the name of the view
            elif is_second_round and key == "bound":
                # columns of views may need it, and would be reported as mistakes without it
                rest["bound"] = True
            elif is_second_round:
                rest.pop(key, None)
            else:
                _remove_part(rest, location)
        try:
            return Study.model_validate(rest)
        except ValidationError as remaining:
            error = remaining
    return None


def _remove_part(part: Any, location: Sequence[int | str]) -> None:
    """Remove what is at a location of nested mappings and lists, if anything is."""
    # The empty location is that of a mistake of the whole study. Then nothing is removed, because
    # no key is "".
    *outer, last = location or [""]
    for step in outer:
        is_key = isinstance(part, dict) and step in part
        is_index = isinstance(part, list) and isinstance(step, int)
        if not is_key and not is_index:
            return
        part = part[step]
    if isinstance(part, dict):
        part.pop(last, None)
    elif isinstance(part, list) and isinstance(last, int) and last < len(part):
        del part[last]


def _read_engines_by_key(
    document: Document,
) -> tuple[dict[str, Mapping[str, tuple[EnginePlugin, ...]]], list[str]]:
    """Read the engines of the keys `simulation` and `flow`, and collect mistakes.

    The engines of each key are those of `read_engines`. No engine is loaded for a study that runs
    none.
    """
    engines: dict[str, Mapping[str, tuple[EnginePlugin, ...]]] = {}
    mistakes: list[str] = []
    key_of_kind = {kind: key for key, kind in ENTRIES.items()}  # "workload": "workloads"
    for key, work in ENGINES.items():
        engines[key] = {DEFAULT: ()}
        if key in document.data or document.data.get(key_of_kind[work]):
            engines[key], problems = read_engines(document, key, work, by_name=key in BY_NAME)
            mistakes += problems
            if problems:
                engines[key] = _read_valid_settings(document, key, work)
    return engines, mistakes


def _read_valid_settings(
    document: Document, key: str, work: Work
) -> Mapping[str, tuple[EnginePlugin, ...]]:
    """Return the engines of a key with mistakes, with those settings that are valid by themselves.

    The columns that tables and figures may name depend on the engines. With these engines, views
    can be checked although some settings are wrong.
    """

    def read(
        content: Mapping[str, Any],
    ) -> tuple[Mapping[str, tuple[EnginePlugin, ...]], list[str]]:
        """Read the engines as if the study's key had this content."""
        changed_document = replace(document, data={**document.data, key: content})
        return read_engines(changed_document, key, work, by_name=key in BY_NAME)

    content = document.data[key]
    # 1. The name of the engine, which decides what settings there are. If it is wrong, the settings
    #    are read as those of the default engine.
    engine = {}
    if KEY in content:
        _, mistakes = read({KEY: content[KEY]})
        engine = {} if mistakes else {KEY: content[KEY]}
    # 2. Each setting alone.
    valid = {}
    for name, value in content.items():
        _, mistakes = read({**engine, name: value})
        if not mistakes:
            valid[name] = value
    engines, _ = read(valid)
    return engines


def _useless_sweep_mistakes(document: Document, settings: Sequence[BenchSettings]) -> list[str]:
    """Report sweeps of settings that do not change what is measured, such as `baseline`.

    All points of such a sweep would be the same measurement, and have the same folder.
    """
    # canonical() leaves out the settings of NO_CHANGE. So, if two texts are equal, the settings
    # differ in some of these only.
    if len({bench.canonical() for bench in settings}) == len(settings):
        return []
    names = [name for name in NO_CHANGE if len({getattr(bench, name) for bench in settings}) > 1]
    prefix = document.place(("bench",))
    return [
        f"{prefix}{', '.join(names)}: cannot be swept, because it does not change what is measured"
    ]


def _file_name_mistakes(study: Study) -> Iterator[str]:
    """Yield mistakes of the file's name, which is also that of its folder in ``results``."""
    if study.name in OTHER_FOLDERS:
        yield f"{study.path}: the folder results/{study.name} has another use; rename the study"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", study.name):
        yield f"{study.path}: a study's file name is letters, digits, '-' and '_', then .yaml"


def _load_citation(study: Study) -> Reference | None:
    """Return the reference that a study cites; None if it cites none.

    Search the folder `references` beside the study's file, then those one and two levels above.
    """
    if study.cites is None:
        return None
    folders = [
        Path(os.path.normpath(study.path.parent / up)) / "references" for up in (".", "..", "../..")
    ]
    for folder in folders:
        if is_folder(folder / study.cites):
            return load_reference(folder / study.cites)
    names = sorted(
        reference.name for folder in folders if is_folder(folder) for reference in folder.iterdir()
    )
    folders_text = f"{', '.join(map(str, folders[:-1]))} or {folders[-1]}"
    fix = suggestion(study.cites, names)
    raise ConfigError([f"{study.place('cites')}no folder {study.cites} in {folders_text}{fix}"])


def _reference_mistakes(study: Study) -> Iterator[str]:
    """Yield a mistake for each table whose published numbers are not in the cited reference."""
    for name, table in study.tables.items():
        if table.beside is None:
            continue
        prefix = study.place("tables", name, "beside")
        if study.reference is None:
            yield f"{prefix}the study cites no reference; add 'cites: <folder in references/>'"
        elif table.beside.reference not in study.reference.tables:
            yield (
                f"{prefix}no table {table.beside.reference} in {study.reference.folder}"
                + suggestion(table.beside.reference, study.reference.tables)
            )
        else:
            columns = study.reference.columns(table.beside.reference)
            for column in table.beside.on:
                if column not in columns:
                    yield (
                        f"{prefix}{table.beside.reference} has no column {column!r}"
                        + suggestion(column, columns)
                    )

"""What the appendix of a study says, collected from the provenance of its results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from routelab.api import InputError, Plugin
from routelab.artifacts.fingerprint import content_digest
from routelab.artifacts.json_files import read_json, write_json
from routelab.artifacts.losses import NOT_RUN
from routelab.artifacts.outcome import Outcome
from routelab.artifacts.provenance import LIBRARIES
from routelab.config import Study
from routelab.config.views import BENCHMARKS
from routelab.registry.names import Name, parse_routing
from routelab.report.frames.bench_rows import BenchRecord
from routelab.report.frames.simulations import EngineRecord
from routelab.report.frames.view import OK, Record, View
from routelab.report.frames.views import Views
from routelab.report.labels import shown_path
from routelab.report.table import ReportTable

FORMAT = "appendix/1"
FILE = "appendix.json"
SUMS = "SHA256SUMS"
"""File that ``sha256sum -c`` verifies."""

_TIME = re.compile(r"(^|_)(seconds|cpu_s)(_|$)")
_SEED = re.compile(r"(^|[._])seeds?$")


@dataclass(frozen=True)
class HashedFile:
    """A file and the SHA-256 of its content.

    Attributes
    ----------
    path : str
    sha256 : str
    varies : str
        Why another run gives another content: ``measured``, ``times``, or empty.
    """

    path: str
    sha256: str
    varies: str = ""


@dataclass
class Part:
    """A plugin, or the settings of an engine, with all values of its parameters in the study.

    Attributes
    ----------
    kind : str
        ``topology``, ``routing``, ...; ``settings`` for settings.
    name : str
        Without parameters.
    alias : str
        Name in the study, if it differs.
    parameters : dict of str to list of str
        Distinct values, in the order of the study.
    """

    kind: str
    name: str
    alias: str = ""
    parameters: dict[str, list[str]] = field(default_factory=dict)

    @property
    def seeds(self) -> dict[str, list[str]]:
        """The parameters that are seeds."""
        return {name: values for name, values in self.parameters.items() if _SEED.search(name)}


@dataclass(frozen=True)
class StudyFacts:
    """Facts on a study, from which its appendix is made.

    Attributes
    ----------
    study, title : str
    selector : str
        Text that selects the study on the command line.
    apply_routing : bool
        Whether its measurements switch a fabric.
    releases : list of str
        Versions of routelab that made the results.
    commits : list of str
        Git commits that made the results; empty if they are not known.
    changed : bool
        Whether the sources of some results differed from their commit.
    software : dict of str to list of str
        Versions of distributions, libraries and programs.
    machines : list of str
    clusters : list of str
        Systems of measurements.
    inputs : list of HashedFile
    parts : list of Part
    jobs, ok, stopped : int
        Jobs, and those with a result, and those that reached a limit.
    cpu_seconds, longest_seconds : float
        CPU time of all jobs, and of the longest one.
    memory_bytes : int
        Most memory of one job.
    started : list of str
        Start of the first and of the last job.
    limited : list of str
        Searches that end at a time limit.
    random : list of str
        Plugins that do not claim to be deterministic.
    files : list of HashedFile
        CSV files of the report.
    """

    study: str
    title: str
    selector: str
    apply_routing: bool
    releases: list[str]
    commits: list[str]
    changed: bool
    software: dict[str, list[str]]
    machines: list[str]
    clusters: list[str]
    inputs: list[HashedFile]
    parts: list[Part]
    jobs: int
    ok: int
    stopped: int
    cpu_seconds: float
    longest_seconds: float
    memory_bytes: int
    started: list[str]
    limited: list[str]
    random: list[str]
    files: list[HashedFile]


def collect_facts(
    study: Study,
    selector: str,
    views: Views,
    tables: Sequence[ReportTable],
    lists: Mapping[str, View],
    plugins: Sequence[Plugin],
    directory: Path,
) -> StudyFacts:
    """Collect the facts on a study whose CSV files have been written.

    Parameters
    ----------
    study : Study
    selector : str
        Text that selects the study on the command line.
    views : Views
        All its results.
    tables : sequence of ReportTable
    lists : mapping of str to View
        Lists of runs, by file name.
    plugins : sequence of Plugin
        Plugins of the study, which know the files that they read.
    directory : Path
        Folder of the report.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    outcomes = views.outcomes
    origins = [outcome.provenance for outcome in outcomes if outcome.provenance]
    seconds = [float(origin.get("cpu_seconds") or 0.0) for origin in origins]
    starts = sorted(_distinct(origin.get("started") for origin in origins))
    records = [record for view in _all_rows(views) for record in view.records]
    return StudyFacts(
        study=study.name,
        title=study.title,
        selector=selector,
        apply_routing=any(isinstance(one, BenchRecord) and one.switched for one in records),
        releases=_distinct(origin.get("routelab") for origin in origins),
        commits=_distinct(origin.get("git_commit") for origin in origins),
        changed=any(origin.get("git_dirty") for origin in origins),
        software=software_versions(origins, outcomes),
        machines=_distinct(machine_text(origin.get("machine")) for origin in origins),
        clusters=_distinct(cluster_text(one) for one in outcomes if one.kind == "comparison"),
        inputs=_inputs(study, plugins),
        parts=_parts(records, plugins),
        jobs=len(outcomes),
        ok=sum(outcome.status == OK for outcome in outcomes),
        stopped=sum(outcome.status == "timeout" for outcome in outcomes),
        cpu_seconds=sum(seconds),
        longest_seconds=max(seconds, default=0.0),
        memory_bytes=max((origin.get("peak_memory_bytes") or 0 for origin in origins), default=0),
        started=list(dict.fromkeys([*starts[:1], *starts[-1:]])),
        limited=_limited(study, views, plugins),
        random=_distinct(
            f"{one.kind}/{one.name}" for one in plugins if not one.capabilities.deterministic
        ),
        files=_files(tables, lists, directory),
    )


def write_facts(facts: StudyFacts, directory: Path) -> None:
    """Write the facts on a study into the folder of its report."""
    write_json(directory / FILE, {"format": FORMAT, **asdict(facts)})


def read_facts(path: Path) -> StudyFacts:
    """Read what `write_facts` wrote.

    Raises
    ------
    InputError
        If the file is missing, damaged or of another format.
    """
    content = {key: value for key, value in read_json(path, FORMAT).items() if key != "format"}
    try:
        return TypeAdapter(StudyFacts).validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path} is damaged: {place}: {first['msg']}; write this report again"
        ) from error


def machine_text(facts: Mapping[str, Any] | None) -> str:
    """Return a machine as recorded in a provenance, in words."""
    facts = facts or {}
    cpus, memory = facts.get("cpus"), facts.get("memory_bytes")
    hardware = [
        str(facts.get("processor") or ""),
        f"{cpus} logical CPU{'s' * (cpus != 1)}" if cpus else "",
        f"{memory / 1e9:.1f} GB of memory" if memory else "",
    ]
    system = [str(facts.get(name) or "") for name in ("system", "kernel", "architecture")]
    return "; ".join(filter(None, (", ".join(filter(None, one)) for one in (hardware, system))))


def _all_rows(views: Views) -> list[View]:
    return [views.routes, *(view for _, view in views.named_views)]


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value))


def software_versions(
    origins: Sequence[Mapping[str, Any]], outcomes: Sequence[Outcome]
) -> dict[str, list[str]]:
    """Return versions by name: plugins' distributions, Python, libraries, external programs."""
    found: dict[str, dict[str, None]] = {}

    def note(name: str, version: Any) -> None:
        if name and version:
            found.setdefault(name, {})[str(version)] = None

    described = [one for origin in origins for one in origin.get("plugins", ())]
    for one in described:
        if one.get("distribution") != "routelab":
            note(one.get("distribution", ""), one.get("version"))
    for origin in origins:
        for name in ("python", *LIBRARIES):
            note({"python": "Python"}.get(name, name), origin.get(name))
    for one in described:
        for name, version in one.get("programs", {}).items():
            note(name, version)
    for outcome in outcomes:
        if outcome.kind == "comparison":
            for name, version in (outcome.facts.get("versions") or {}).items():
                note(name, version)
    return {name: list(versions) for name, versions in found.items()}


def cluster_text(outcome: Outcome) -> str:
    """Return the system of a comparison in words, without names of hosts."""
    facts = outcome.facts
    nodes, each = facts.get("nodes"), facts.get("ranks_per_node")
    texts = [
        f"cluster {facts['cluster']}" if facts.get("cluster") else "",
        f"{nodes} node{'s' * (nodes != 1)}" if nodes else "",
        f"{each} MPI process{'es' * (each != 1)} per node" if each else "",
        f"launcher {facts['launcher']}" if facts.get("launcher") else "",
        f"fabric {facts['fabric']}" if facts.get("fabric") else "",
        "; ".join(map(str, facts.get("systems") or ())),
    ]
    return ", ".join(filter(None, texts))


def _inputs(study: Study, plugins: Sequence[Plugin]) -> list[HashedFile]:
    """Return the study, the published numbers that it shows, and the files that plugins read."""
    paths = [study.path]
    if study.reference:
        paths += [study.reference.folder / "citation.yaml", *study.reference.tables.values()]
    paths += [path for plugin in plugins for path in plugin.input_files()]
    return [HashedFile(shown_path(path), content_digest(path)) for path in dict.fromkeys(paths)]


def _parts(records: Sequence[Record], plugins: Sequence[Plugin]) -> list[Part]:
    """Return the plugins and settings of all records and the metrics, ordered by kind."""
    found: dict[tuple[str, str, str], dict[str, dict[str, None]]] = {}

    def note(kind: str, name: str, alias: str, parameters: Mapping[str, Any]) -> None:
        values = found.setdefault((kind, name, alias), {})
        for key, value in parameters.items():
            values.setdefault(key, {})[str(value)] = None

    for record in {id(record): record for record in records}.values():
        for kind in _kinds(record):
            label, name, parameters = record.part(kind)
            note(kind, bare_name(name), "" if label == name else label, parameters)
        if isinstance(record, EngineRecord):
            settings = record.engine.parameters
            seeds = {key: text for key, text in settings.texts().items() if _SEED.search(key)}
            note("settings", record.engine.name, "", {**settings.non_defaults(), **seeds})
        if isinstance(record, BenchRecord):
            note("settings", "bench", "", record.settings.texts())
    for plugin in plugins:
        if plugin.kind == "metric":
            note("metric", plugin.name, "", plugin.parameters.texts())
    parts = [
        Part(*key, {name: list(values) for name, values in parameters.items()})
        for key, parameters in found.items()
    ]
    return sorted(parts, key=lambda part: _ORDER.index(part.kind))


_ORDER = ("topology", "routing", "traffic", "workload", "benchmark", "metric", "settings")


def _kinds(record: Record) -> list[str]:
    kinds = ["topology", "routing"]
    if isinstance(record, EngineRecord):
        kinds.append(record.engine.work)
    if isinstance(record, BenchRecord):
        kinds.append("benchmark")
    return kinds


def bare_name(text: str) -> str:
    """Return the name of a plugin or of a composition, without parameters."""
    try:
        name = parse_routing(text)
    except InputError:
        return text
    names = [name] if isinstance(name, Name) else [name.selection, name.rules, name.layers]
    return "@".join(one.key for one in names if one is not None)


def _limited(study: Study, views: Views, plugins: Sequence[Plugin]) -> list[str]:
    """Return what ends at a time limit and then depends on the speed of the machine."""
    names = [
        f"{one.kind}/{one.name}"
        for one in plugins
        if one.kind in ("selection", "routing") and hasattr(one.parameters, "seconds")
    ]
    bounds = [outcome for outcome in views.bound_outcomes if outcome.status != NOT_RUN]
    return [*dict.fromkeys(names), *(["bounds"] if bounds else [])]


def _files(
    tables: Sequence[ReportTable], lists: Mapping[str, View], directory: Path
) -> list[HashedFile]:
    """Return the CSV files of tables and lists with their hashes."""
    found: list[tuple[str, str]] = []
    for table in tables:
        columns = [column.source for column in table.columns]
        varies = "measured" if table.of in BENCHMARKS else _time_among(columns)
        found.append((f"tables/{table.name}.csv", varies))
    for name, view in lists.items():
        measured = name == "benchmarks.csv"
        found.append((name, "measured" if measured else _time_among(view.jobs.columns)))
    return [HashedFile(name, content_digest(directory / name), varies) for name, varies in found]


def _time_among(columns: Iterable[str]) -> str:
    return "times" if any(_TIME.search(column) for column in columns) else ""

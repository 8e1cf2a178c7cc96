"""What made the results of a study, and checksums of its CSV files, for those who repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from routelab.api import Plugin
from routelab.report.labels import shown_path
from routelab.results.atomic import atomic_file
from routelab.results.fingerprint import content_digest
from routelab.results.json_files import write_json
from routelab.results.outcome import Outcome
from routelab.results.provenance import LIBRARIES
from routelab.study import Study

FORMAT = "versions/1"
FILE = "versions.json"
SUMS = "SHA256SUMS"
"""File that ``sha256sum -c`` verifies."""


def write_versions(
    study: Study,
    command: str,
    outcomes: Sequence[Outcome],
    plugins: Sequence[Plugin],
    directory: Path,
) -> None:
    """Write ``versions.json`` and ``SHA256SUMS`` into the folder of a report.

    The files describe the machines, but name no host.

    Parameters
    ----------
    study : Study
    command : str
        Rebuilds the report.
    outcomes : sequence of Outcome
        Of all jobs of the study.
    plugins : sequence of Plugin
        Plugins of the study, which know the files that they read.
    directory : Path
        Has the CSV files of the report.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    origins = [outcome.provenance for outcome in outcomes if outcome.provenance]
    content = {
        "format": FORMAT,
        "study": study.name,
        "command": command,
        "routelab": _distinct(origin.get("routelab") for origin in origins),
        "commits": _distinct(origin.get("git_commit") for origin in origins),
        "local_changes": any(origin.get("git_dirty") for origin in origins),
        "software": software_versions(origins, outcomes),
        "machines": _distinct(machine_text(origin.get("machine")) for origin in origins),
        "inputs": {shown_path(path): content_digest(path) for path in _inputs(study, plugins)},
    }
    write_json(directory / FILE, content)
    files = sorted([*directory.glob("*.csv"), *directory.glob("tables/*.csv")])
    lines = [f"{content_digest(path)}  {path.relative_to(directory)}\n" for path in files]
    with atomic_file(directory / SUMS) as draft:
        draft.write_text("".join(lines), encoding="utf-8")


def _inputs(study: Study, plugins: Sequence[Plugin]) -> list[Path]:
    """Return the study, the published numbers that it shows, and the files that plugins read."""
    paths = [study.path]
    if study.reference:
        paths += [study.reference.folder / "citation.yaml", *study.reference.tables.values()]
    for plugin in plugins:
        paths += [*plugin.input_files(), *plugin.data_files()]
    return list(dict.fromkeys(paths))


def machine_text(facts: Mapping[str, Any] | None) -> str:
    """Return a machine, as recorded in a provenance, in words; empty if it is not recorded.

    ``Xeon 8380, 80 logical CPUs, 270.1 GB of memory; Debian 12, Linux 6.1, x86_64``
    """
    facts = facts or {}
    cpus, memory = facts.get("cpus"), facts.get("memory_bytes")
    hardware = [
        str(facts.get("processor") or ""),
        f"{cpus} logical CPU{'' if cpus == 1 else 's'}" if cpus else "",
        f"{memory / 1e9:.1f} GB of memory" if memory else "",
    ]
    system = [str(facts.get(name) or "") for name in ("system", "kernel", "architecture")]
    hardware_text, system_text = (", ".join(filter(None, parts)) for parts in (hardware, system))
    return "; ".join(filter(None, (hardware_text, system_text)))


def software_versions(
    origins: Sequence[Mapping[str, Any]], outcomes: Sequence[Outcome]
) -> dict[str, list[str]]:
    """Return the versions of everything that ran, by name: ``{"numpy": ["2.0.1", "2.1.0"]}``.

    These are the distributions of plugins, Python, libraries, the programs that plugins started,
    and what comparisons on clusters recorded. There are several versions if runs differ.

    Parameters
    ----------
    origins : sequence of mapping
        Provenances of the runs.
    outcomes : sequence of Outcome
        Outcomes of all jobs, comparisons included.
    """
    plugins = [plugin for origin in origins for plugin in origin.get("plugins", ())]
    comparisons = [outcome.facts for outcome in outcomes if outcome.kind == "comparison"]
    named_versions = [
        *((plugin.get("distribution"), plugin.get("version")) for plugin in plugins),
        *((name, origin.get(name)) for origin in origins for name in ("python", *LIBRARIES)),
        *(pair for plugin in plugins for pair in plugin.get("programs", {}).items()),
        *(pair for facts in comparisons for pair in (facts.get("versions") or {}).items()),
    ]
    versions: dict[str, dict[str, None]] = {}
    for name, version in named_versions:
        if name and version:
            versions.setdefault(name, {})[str(version)] = None
    return {name: list(texts) for name, texts in versions.items()}


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value))

"""Origin of a study's results, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from routelab.results.outcome import Outcome


def cpu_seconds(outcomes: Iterable[Outcome]) -> float:
    """Return the CPU time of all runs together, in seconds; 0 if none is recorded."""
    return sum(outcome.provenance.get("cpu_seconds") or 0.0 for outcome in outcomes)


def provenance_lines(outcomes: Iterable[Outcome]) -> list[tuple[str, str]]:
    """Return the lines of the page's provenance, each a heading and its text.

    They have the versions, machines and cost of all runs; a line without a text is left out.
    """
    outcomes = list(outcomes)
    origins = [outcome.provenance for outcome in outcomes if outcome.provenance]
    if not origins:
        return []
    plugins = sorted(
        {
            f"{plugin['distribution']} {plugin['version']}".strip()
            for origin in origins
            for plugin in origin.get("plugins", [])
        }
    )
    starts = sorted(_distinct_texts(origin.get("started") for origin in origins))
    first_and_last = [*starts[:1], *starts[-1:]]
    memory = max(origin.get("peak_memory_bytes") or 0 for origin in origins)
    lines = [
        ("routelab", _join(map(_release, origins))),
        ("Plugins from", _join(plugins)),
        ("Python", _join(origin.get("python") for origin in origins)),
        ("numba", _join(origin.get("numba") for origin in origins)),
        ("numpy", _join(origin.get("numpy") for origin in origins)),
        ("Hosts", _join(origin.get("host") for origin in origins)),
        ("Runs started (UTC)", " to ".join(dict.fromkeys(first_and_last))),
        ("CPU time of all runs", f"{cpu_seconds(outcomes):.1f} s"),
        ("Peak memory of one run", f"{memory / 1e6:.0f} MB" if memory else ""),
    ]
    return [(heading, text) for heading, text in lines if text]


def _release(origin: Mapping[str, Any]) -> str:
    """Return version and commit, e.g. ``0.1.0, commit 0123456789ab with local changes``."""
    text = str(origin.get("routelab") or "")
    commit = origin.get("git_commit")
    if commit:
        text += f", commit {str(commit)[:12]}"
        text += " with local changes" if origin.get("git_dirty") else ""
    return text


def _distinct_texts(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(value) for value in values if value))


def _join(values: Iterable[Any]) -> str:
    return "; ".join(_distinct_texts(values))

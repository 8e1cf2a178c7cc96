"""Checks of studies before anything runs, and the schema of study files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from routelab.registry.catalogue import installed_catalogue
from routelab.study.schema import study_schema
from routelab.workflow.kinds import kinds
from routelab.workflow.plan.expansion import StudyPlan, expand_studies


def check_studies(studies: Sequence[Path]) -> list[str]:
    """Return a line for each study with the numbers of its results, tables and figures.

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes in all studies.
    """
    return [
        f"{shown.study.path}: OK: {_study_text(shown)}"
        for shown in expand_studies(studies).studies.values()
    ]


def _study_text(shown: StudyPlan) -> str:
    sizes = {kind: sum(job.size for job in jobs) for kind, jobs in shown.jobs.items()}
    counts = [_count(size, *kinds()[kind].nouns) for kind, size in sizes.items() if size]
    counts.append(_count(len(shown.study.tables), "table", "tables"))
    counts.append(_count(len(shown.study.figures), "figure", "figures"))
    return ", ".join(counts)


def study_schema_text(built_in: bool = False) -> str:
    """Return the JSON schema of study files, with all plugins or only the built-in ones."""
    schema = study_schema(installed_catalogue(), "routelab" if built_in else None)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"

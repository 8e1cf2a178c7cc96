"""Checks of studies before anything runs, and the schema of study files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from routelab.registry.catalogue import installed_catalogue
from routelab.study.json_schema import study_schema
from routelab.workflow.plan.expansion import StudyPlan, expand_studies
from routelab.workflow.stages import kinds


def check_studies(studies: Sequence[Path]) -> list[str]:
    """Return a line for each study with the numbers of its results, tables and figures.

    Lines on plugins that cannot be used come first.

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes in all studies.
    """
    plan = expand_studies(studies)
    return [
        *(f"warning: {reason}; its jobs will fail" for reason in plan.quarantined),
        *(
            f"{study_plan.study.path}: OK: {_study_text(study_plan)}"
            for study_plan in plan.studies.values()
        ),
    ]


def _study_text(study_plan: StudyPlan) -> str:
    """Return what a study makes, for example "1 network, 8 route tables, 2 tables, 0 figures"."""
    sizes = {kind: sum(job.size for job in jobs) for kind, jobs in study_plan.jobs.items()}
    counts = [_count(size, *kinds()[kind].nouns) for kind, size in sizes.items() if size]
    counts.append(_count(len(study_plan.study.tables), "table", "tables"))
    counts.append(_count(len(study_plan.study.figures), "figure", "figures"))
    return ", ".join(counts)


def study_schema_text(built_in: bool = False) -> str:
    """Return the JSON schema of study files, with all plugins or only the built-in ones."""
    schema = study_schema(installed_catalogue(), "routelab" if built_in else None)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"

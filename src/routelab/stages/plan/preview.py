"""Checks of studies before anything runs, and the schema of study files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from routelab.config import ConfigError
from routelab.config.schema import study_schema
from routelab.registry.catalogue import installed_catalogue
from routelab.stages.kinds import kinds
from routelab.stages.kinds.predictions import predictions
from routelab.stages.plan.expansion import StudyPlan, expand_studies
from routelab.stages.plan.fit import misfits


def check_studies(studies: Sequence[Path]) -> list[str]:
    """Return a summary line for each study, and notes on parts that will not apply.

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes in all studies. A pattern or routing that supports none
        of the study's networks is a mistake.
    """
    plan = expand_studies(studies)
    lines, mistakes = [], []
    for shown in plan.studies.values():
        found = misfits(shown.parts)
        mistakes += [str(one) for one in found if one.never_fits]
        lines.append(f"{shown.study.path}: OK: {_study_text(shown)}")
        lines += [f"{one} (note)" for one in found if not one.never_fits]
    if mistakes:
        raise ConfigError(mistakes)
    return lines


def _study_text(shown: StudyPlan) -> str:
    """Return a summary of a study."""
    parts = shown.parts
    product = [
        _count(len({t for t, _ in parts.pairs}), "topology"),
        _count(len({r for _, r in parts.pairs}), "routing"),
    ]
    counts = [f"{' × '.join(product)} = {_count(len(parts.runs), 'run')}"]
    others = []
    for kind, work in (("simulations", "traffic"), ("flows", "workload")):
        predicted = {one.flow for one in predictions(parts)} if kind == "flows" else set()
        own = parts.traffic if kind == "simulations" else parts.workloads
        ids = [one for one in shown.ids(kind) if one[2] in own or one not in predicted]
        if not ids:
            continue
        number = len({one[2] for one in ids})
        factors = [*product, f"{number} traffic" if work == "traffic" else _count(number, work)]
        settings = len({one[3] for one in ids})
        # a workload may have separate settings
        if settings > 1 and number * settings * len(parts.pairs) == len(ids):
            factors.append(f"{settings} settings")
        noun, _ = kinds()[kind].nouns
        others.append(f"{' × '.join(factors)} = {_count(len(ids), noun)}")
    compared = shown.ids("comparisons")
    if compared:
        measured = [
            _count(len({t for _, t, _ in compared}), "topology"),
            _count(len({r for _, r in parts.runs}), "routing"),
            _count(len(parts.benchmarks), "benchmark"),
        ]
        settings = len({one for _, _, one in compared})
        measured += [f"{settings} settings"] if settings > 1 else []
        others.append(f"{' × '.join(measured)} = {_count(len(compared), 'comparison')}")
        expected = {one.flow for one in predictions(parts)}
        if expected:
            others.append(_count(len(expected), "prediction"))
    if others:
        counts = [*others, _count(len(parts.runs), "table") + " to route"]
    counts.append(_count(len(shown.study.tables), "table"))
    counts.append(_count(len(shown.study.figures), "figure"))
    return ", ".join(counts)


def study_schema_text(built_in: bool = False) -> str:
    """Return the JSON schema of study files, with all plugins or only the built-in ones."""
    schema = study_schema(installed_catalogue(), "routelab" if built_in else None)
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _count(number: int, noun: str) -> str:
    many = noun.removesuffix("y") + "ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else many}"

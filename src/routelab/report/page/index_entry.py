"""What the index shows of a study."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from routelab.report.page.summary import published_counts
from routelab.report.table import ReportTable
from routelab.report.table_formats import deviation_text
from routelab.results.missing_results import STATUS_TEXTS, MissingResult
from routelab.study import Study

FORMAT = "report/3"
SOURCE_KEYS = {"key", "title", "authors", "venue", "year", "doi"}
"""Keys of a reference's source in ``summary.json``."""


def status_of(missing: Iterable[MissingResult]) -> str:
    """Return ``ok``, or the numbers of missing results: ``3 failed, 2 not run yet``."""
    counts: Counter[str] = Counter()
    for result in missing:
        if result.is_alarm:
            counts[result.status] += result.count
    texts = [f"{counts[key]} {text}" for key, text in STATUS_TEXTS.items() if counts[key]]
    return ", ".join(texts) or "ok"


def published_results(study: Study, tables: Sequence[ReportTable]) -> list[dict[str, Any]]:
    """Return, for each table with published numbers, whether ours reproduce them.

    Returns
    -------
    list of dict
        ``part``: the part of the paper; ``table`` and ``title``: ours; ``result``: ``reproduced``,
        ``differs``, ``not reproducible`` or ``no result``; ``differing`` and ``numbers``: numbers
        that differ, and all that could be compared; ``deviation``: how far they differ, in words.
    """
    results = []
    for table in tables:
        beside = study.tables[table.name].beside
        if beside is None or study.reference is None:
            continue
        counts = published_counts(table)
        # A table has nothing to reproduce if its published values are words, such as names, or in
        # columns for which it has no value of ours (`of`).
        reference_names = [column.name for column in table.with_role("reference") if column.of]
        has_numbers = any(
            isinstance(row.get(name), int | float) for row in table.rows for name in reference_names
        )
        if not counts and not beside.not_reproducible and not has_numbers:
            continue
        differing = counts["below"] + counts["above"]  # ours, compared with the published ones
        if beside.not_reproducible:
            result = "not reproducible"
        elif not counts:  # published numbers, but no value of ours beside any
            result = "no result"
        else:
            result = "differs" if differing else "reproduced"
        results.append(
            {
                "part": _part_of_paper(study.reference.source.tables[beside.reference]),
                "table": table.name,
                "title": table.title,
                "result": result,
                "differing": differing,
                "deviation": deviation_text(table),
                "numbers": counts.total(),
            }
        )
    return results


def _part_of_paper(description: str) -> str:
    """Return the part of the paper that a reference file is from: ``Table 2``.

    The description of the file begins with it, before a comma or colon: ``Table 2: throughput``.
    """
    return re.split(r"[,:]", description, maxsplit=1)[0].strip()

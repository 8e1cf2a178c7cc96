"""The index of all studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from routelab.api import InputError
from routelab.report.labels import duration_text
from routelab.report.page.index_entry import FORMAT
from routelab.report.page.render import write_page
from routelab.results.json_files import read_json

MAX_CAUSES = 3
"""Largest number of causes of missing results of a study in the index; its page has all."""
MAX_SVG = 1_000_000
"""Largest SVG file that a page shows, in bytes; PNG is shown instead of larger ones."""


def write_index(report: Path) -> None:
    """Write ``index.html`` and ``values.html`` over the pages of all studies in `report`.

    The index has a card for each study. Studies that cite a publication are grouped under it, those
    with the most published numbers first. A study whose ``summary.json`` cannot be read is listed
    with the reason. The card of a study with missing results names their most serious causes.

    The other page is one table of the values that answer the studies' questions.
    """
    # 1. The cards of all studies, by the paper that they reproduce, and the values of all.
    papers: dict[str, dict[str, Any]] = {}
    other_cards: list[dict[str, Any]] = []
    values: list[dict[str, str]] = []
    studies_without_values: list[dict[str, str]] = []
    for path in sorted(report.glob("*/summary.json")):
        href = f"{quote(path.parent.name)}/index.html"
        try:
            summary = read_json(path, FORMAT)
        except InputError as error:
            other_cards.append({"title": path.parent.name, "href": href, "problem": str(error)})
            studies_without_values.append({"study": path.parent.name, "href": href})
            continue
        address = {"study": summary["study"], "href": href}
        study_values = summary.get("values", ())  # earlier versions wrote none
        values += [row | address for row in study_values]
        if not study_values:
            studies_without_values.append(address)
        card = {
            **summary,
            "href": href,
            "problem": "",
            "missing": [cause for cause in summary["losses"] if cause["status"] != "unsupported"],
            "thumbnail": _thumbnail(path.parent, summary["figure"]),
            "cost": duration_text(summary["cpu_seconds"]),
        }
        source = summary["source"]
        if source is None:
            other_cards.append(card)
            continue
        paper = papers.setdefault(source["key"], {"source": source, "published": [], "studies": []})
        paper["studies"].append(card)
        # each result with the address of our table
        paper["published"] += [
            {**result, "href": f"{href}#table-{quote(result['table'])}"}
            for result in summary["published"]
        ]
    # 2. The pages. The study with the most published numbers stands for its paper, so it is first.
    for paper in papers.values():
        paper["studies"].sort(key=_count_published_numbers, reverse=True)
    write_page(
        "values.html.j2",
        report / "values.html",
        values=values,
        without=studies_without_values,
    )
    write_page(
        "index.html.j2",
        report / "index.html",
        papers=sorted(
            papers.values(),
            key=lambda paper: _count_published_numbers(paper["studies"][0]),
            reverse=True,
        ),
        others=other_cards,
        most=MAX_CAUSES,
    )


def _count_published_numbers(card: dict[str, Any]) -> int:
    return sum(int(result["numbers"]) for result in card["published"])


def _thumbnail(folder: Path, figure: str) -> str:
    """Return the address of the picture of a study's card; empty if it has no figure."""
    for name in (f"{figure}.svg", f"{figure}.png") if figure else ():
        path = folder / "figures" / name
        if path.is_file() and (path.suffix == ".png" or path.stat().st_size <= MAX_SVG):
            return f"{quote(folder.name)}/figures/{quote(name)}"
    return ""

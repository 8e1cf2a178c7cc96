"""Publish results: the pages in docs/results, and the table of results in README and manual.

python docs/publish.py --run STUDY...   run the studies one after the other, and keep their results
python docs/publish.py --keep STUDY...  keep the results of reports that exist
python docs/publish.py                  make the pages again from the kept results

What was found is kept in docs/results/STUDY: `result.json`, the tables that the page cites, and a
figure. `docs/results/results.yaml` has the sentences; their numbers come from these tables.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from routelab.report.labels import duration_text, label
from routelab.report.number_formats import ROUNDING
from routelab.report.page.study_values import study_values
from routelab.report.page.summary import UNDECIDED
from routelab.report.stored_tables import table_from_csv
from routelab.study import load_study

HOME = Path(__file__).parents[1]
RESULTS = HOME / "docs/results"
REPORT = HOME / "results/report"
BEGIN, END = "<!-- results: made by docs/publish.py -->", "<!-- end of results -->"
INTRODUCTION = """\
What the studies of routelab find, each with the command that repeats it. All numbers are read from
the tables beside the pages."""
UNPUBLISHED = """\
The two studies `desmos-rerun-*` measure on a cluster; their files begin with the commands."""
VALUES = """\
The values that answer the questions of the studies, with proven bounds and published numbers. They
are read from the tables beside the pages. The distance is that of the value from the bound, in
percent of the bound. A measured load may exceed its bound within the error of the measurement."""
VALUE_HEADINGS = {
    "network": "network",
    "traffic": "traffic",
    "routing": "routing",
    "label": "quantity",
    "value": "value",
    "bound": "proven bound",
    "distance": "distance (%)",
    "published": "published",
}
"""Headings of the table over all studies, by the keys of its rows."""
SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
ET.register_namespace("", SVG[1:-1])
ET.register_namespace("xlink", HREF[1:-5])
ILLEGIBLE = ("text_", "xtick_", "ytick_", "legend_")
"""Beginnings of the ids of a figure's parts that nobody could read in a small picture."""
UPPER_BOUND = "accepted_bound"
KEPT = ("question", "finding", "sentences", "cpu_seconds", "table", "source", "published")
"""Facts of a report's summary that a page needs."""


def texts() -> dict[str, dict[str, Any]]:
    """Return what people wrote about each published study, in the order of the pages."""
    text = (RESULTS / "results.yaml").read_text("utf-8")
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return found


# --- keep what was found ------------------------------------------------------------------------


def keep(study: str) -> None:
    """Copy the results of a study from its report."""
    report, folder = REPORT / study, RESULTS / study
    summary = json.loads((report / "summary.json").read_text("utf-8"))
    versions = json.loads((report / "versions.json").read_text("utf-8"))
    left_out = [one["text"] for one in summary["losses"] if one["status"] == "unsupported"]
    lost = [one["sentence"] for one in summary["losses"] if one["status"] != "unsupported"]
    if lost:
        raise SystemExit(f"{study}: {lost[0]}")
    text = texts()[study]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    facts = {name: summary[name] for name in KEPT}
    facts["left_out"] = left_out
    facts["figure"] = text.get("figure") or summary["figure"]
    facts |= {name: versions[name] for name in ("command", "commits", "machines")}
    (folder / "result.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    tables = {facts["table"], text.get("table", ""), *_cited_tables(text)} - {""}
    for table in sorted(tables):
        shutil.copy(report / "tables" / f"{table}.csv", folder)
    shutil.copy(report / "figures" / f"{facts['figure']}.svg", folder / "figure.svg")


def _cited_tables(text: Mapping[str, Any]) -> Iterator[str]:
    return (cell["table"] for cell in text.get("cells", {}).values() if "table" in cell)


def run(studies: Sequence[str]) -> None:
    """Run studies one after the other; finished ones take seconds."""
    for study in studies:
        subprocess.run(
            ["snakemake", "--cores", "all", "report", "--config", f"studies={study}"],
            cwd=HOME,
            check=True,
        )
        keep(study)


# --- pages --------------------------------------------------------------------------------------


class Result:
    """The kept result of a study."""

    def __init__(self, study: str, text: Mapping[str, Any]) -> None:
        self.study, self.text = study, text
        self.folder = RESULTS / study
        self.facts = json.loads((self.folder / "result.json").read_text("utf-8"))
        declared = yaml.safe_load((HOME / f"config/studies/{study}.yaml").read_text("utf-8"))
        self.notes, self.tables = declared["notes"], declared["tables"]
        self.caption = declared["figures"][self.facts["figure"]]["title"]

    @property
    def table(self) -> str:
        """Name of the table that the page shows."""
        return self.text.get("table") or str(self.facts["table"])

    def rows(self, table: str) -> list[dict[str, str]]:
        """Return the rows of a kept table."""
        with (self.folder / f"{table}.csv").open(newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    def fill(self, template: str) -> str:
        """Return a sentence with the numbers of its cells."""
        text = " ".join(template.split())
        return re.sub(r"\{(\w+)(%?)\}", lambda found: self._cell(found[1], found[2]), text)

    def _cell(self, name: str, unit: str) -> str:
        cell = dict(self.text["cells"][name])
        table, column = cell.pop("table", self.table), cell.pop("column")
        rows = [
            row
            for row in self.rows(table)
            if all(row[key] == str(value) for key, value in cell.items())
        ]
        if len(rows) != 1:
            raise SystemExit(f"{self.study}: cell {name}: {len(rows)} rows of {table} fit")
        text = rows[0][column]
        return f"{number(column, str(100 * float(text)))} %" if unit else number(column, text)

    def values(self) -> list[dict[str, str]]:
        """Return the rows of the study in the table over all studies."""
        study = load_study(HOME / f"config/studies/{self.study}.yaml")
        tables = []
        for path in sorted(self.folder.glob("*.csv")):
            if spec := study.tables.get(path.stem):
                table = table_from_csv(path.stem, spec, path.read_text("utf-8"))
                # without a key of its rows, a table from an earlier study mixes conditions
                if len(table.with_role("row")) == len(spec.rows):
                    tables.append(table)
        return study_values(study, tables)

    @property
    def question(self) -> str:
        """The question that the page answers."""
        return self.text.get("ask") or str(self.facts["question"])

    @property
    def answer(self) -> str:
        """The sentence that a colleague could quote."""
        return self.fill(self.text["answer"]) if "answer" in self.text else self.facts["finding"]

    @property
    def cpu(self) -> str:
        """CPU time of all runs."""
        return duration_text(self.facts["cpu_seconds"])


def number(column: str, text: str) -> str:
    """Return a number of a table with three digits, hops with four; other texts as they are."""
    try:
        value = float(text)
    except ValueError:
        return text or "–"
    if abs(value) < ROUNDING:
        return "0"
    if abs(value) >= 100 or value.is_integer():
        return f"{value:.0f}"
    if column == UPPER_BOUND:  # rounded down, it would claim too much
        return f"{math.ceil(value * 1000) / 1000:g}"
    return f"{value:.4g}" if "hops" in column else f"{value:.3g}"


def study_page(result: Result) -> str:
    """Return the page of a study."""
    facts, study = result.facts, result.study
    files = sorted(result.folder.glob("*.csv"))
    tables = ", ".join(f"[{path.name}]({study}/{path.name})" for path in files)
    made = ", ".join(f"`{one[:8]}`" for one in facts["commits"])
    sentences = [*facts["sentences"], *facts.get("left_out", ())]
    # a result that was kept earlier does not explain the word
    if UNDECIDED not in sentences and any("undecided" in one for one in sentences):
        sentences.append(UNDECIDED)
    machines = "; ".join(facts["machines"])
    parts = [
        f"# {result.question}",
        f"**{result.answer}**",
        f"![{result.question}]({study}/figure.svg)",
        f"Figure: {result.caption}.",
        "\n".join(_table(result)),
        *(["## The paper", paper] if (paper := _paper(result)) else []),
        "## Conditions",
        "\n".join(f"- {' '.join(one.split())}" for one in [*sentences, *result.notes]),
        "## Reproduce",
        f"    {facts['command']}",
        f"CPU time: {result.cpu}. Machine: {machines}. Commit {made}. Tables: {tables}.",
    ]
    return "\n\n".join(parts) + "\n"


def _paper(result: Result) -> str:
    lines = []
    if source := result.facts["source"]:
        title = source["title"]
        lines = [f"[{title}](https://doi.org/{source['doi']})." if source["doi"] else f"{title}."]
    published = result.facts["published"]
    for part in dict.fromkeys(one["part"] for one in published):
        mine = [one for one in published if one["part"] == part]
        numbers = sum(one["numbers"] for one in mine)
        equal = numbers - sum(one["differing"] for one in mine)
        lines.append(
            f"{part}: {equal} of {numbers} published numbers are equal to ours as printed or "
            "within the range of our runs."
        )
        beside = [result.tables[one["table"]]["beside"] for one in mine]
        reasons = (one.get("not_reproducible", "") for one in beside)
        lines += [text for text in (" ".join(one.split()) for one in reasons) if text]
    lines += [result.fill(result.text["paper"])] if "paper" in result.text else []
    return "\n\n".join(dict.fromkeys(lines))


def _table(result: Result) -> Iterator[str]:
    rows = result.rows(result.table)
    names = result.text.get("columns") or [
        name for name in rows[0] if not name.endswith(("_low", "_high")) and name != "runs"
    ]
    wanted = {key: set(map(str, values)) for key, values in result.text.get("where", {}).items()}
    spec = result.tables[result.table]
    plain = {*spec["rows"], *spec.get("values", ())} if _pivot_value(spec) else set(names)
    heads = [_heading(name, spec.get("of", "routes")) if name in plain else name for name in names]
    if (pivoted := _pivot_value(spec)) and set(names) - plain:
        yield f"Below each {spec['pivot']['by']}: {label(pivoted, spec.get('of', 'routes'))}.\n"
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' for _ in names)} |"
    for row in rows:
        if all(row[key] in values for key, values in wanted.items()):
            yield f"| {' | '.join(number(name, row[name]) for name in names)} |"


def _heading(name: str, of: str) -> str:
    """Return a column's heading; the columns of a pivot of several values begin with the name."""
    source, _, by = name.removesuffix(")").partition(" (")
    return f"{by}: {label(source, of)}" if by else label(name, of)


def _pivot_value(spec: Mapping[str, Any]) -> str:
    """Return the only value of a pivot, whose columns are names; empty if there are several."""
    value = spec.get("pivot", {}).get("value")
    return value if isinstance(value, str) else ""


def headline_table(results: Sequence[Result], home: str) -> str:
    """Return the table of the best results; `home` is the folder of the pages."""
    lines = [
        "| question | others | routelab finds | distance from the proven bound |",
        "| --- | --- | --- | --- |",
    ]
    for one in results:
        if "others" in one.text:
            cells = (one.fill(one.text[name]) for name in ("others", "ours", "distance"))
            lines.append(f"| [{one.question}]({home}{one.study}.md) | {' | '.join(cells)} |")
    return "\n".join(lines)


def index_page(results: Sequence[Result]) -> str:
    """Return the page that lists all results."""
    lines = [
        "# Results",
        INTRODUCTION,
        headline_table(results, ""),
        "[All values in one table](values.md), with bounds and published numbers.",
        "## All studies",
        "\n".join(
            [
                "| figure | question | answer | CPU time |",
                "| --- | --- | --- | --- |",
                *(
                    f"| [![{one.caption}]({one.study}/preview.svg)]({one.study}.md) "
                    f"| [{one.question}]({one.study}.md) | {one.answer} | {one.cpu} |"
                    for one in results
                ),
            ]
        ),
        "## Not published yet",
        UNPUBLISHED,
        "\n".join(_unpublished(results)),
    ]
    return "\n\n".join(lines) + "\n"


def values_page(results: Sequence[Result]) -> str:
    """Return the page with one table over all studies."""
    lines = [
        f"| study | {' | '.join(VALUE_HEADINGS.values())} |",
        f"| --- |{' --- |' * 4}{' ---: |' * 4}",
    ]
    without = []
    for one in results:
        rows = one.values()
        without += [] if rows else [f"[{one.study}]({one.study}.md)"]
        for row in rows:
            cells = (re.sub(r"([\\`*_<|])", r"\\\1", row[key]) for key in VALUE_HEADINGS)
            lines.append(f"| [{one.study}]({one.study}.md) | {' | '.join(cells)} |")
    missing = f"{len(without)} of {len(results)} studies have no such values"
    return "\n\n".join(
        [
            "# Values of all studies",
            VALUES,
            f"{missing}: {', '.join(without)}." if without else "All published studies have rows.",
            '<div data-filter="0 2 3 4" markdown>',
            "\n".join(lines),
            "</div>\n",
        ]
    )


def preview(figure: str) -> str:
    """Return a small picture of a figure: without texts, ticks and legends, and rounded."""
    root = ET.fromstring(figure)
    _thin(root)
    used = {use.get(HREF) for use in root.iter(f"{SVG}use")}
    for definitions in root.iter(f"{SVG}defs"):
        for shape in definitions.findall(f"{SVG}path"):
            if f"#{shape.get('id')}" not in used:
                definitions.remove(shape)
    return ET.tostring(root, encoding="unicode") + "\n"


def _thin(element: ET.Element) -> None:
    element.text, element.tail = element.text and element.text.strip(), None
    for child in list(element):
        _thin(child)
        is_group = child.tag == f"{SVG}g"
        name = child.attrib.pop("id", "") if is_group else ""
        if name.startswith(ILLEGIBLE) or (is_group and not len(child)):
            element.remove(child)
    # marks are drawn around their own centre: their curves need a digit
    digits = 0 if "clip-path" in element.attrib else 1
    for key in {"d", "x", "y"}.intersection(element.attrib):
        numbers = re.split(r"(-?\d+\.\d+)", element.attrib[key])
        numbers[1::2] = (f"{float(text):.{digits}f}" for text in numbers[1::2])
        path = " ".join("".join(numbers).split())
        element.set(key, re.sub(r" ?([A-Za-z]) ?", r"\1", path))


def _unpublished(results: Sequence[Result]) -> Iterator[str]:
    yield "| study | command |"
    yield "| --- | --- |"
    published = {one.study for one in results}
    for path in sorted((HOME / "config/studies").glob("*.yaml")):
        if path.stem not in published:
            title = yaml.safe_load(path.read_text("utf-8"))["title"]
            yield f"| {title} | `snakemake report --config studies={path.stem}` |"


def pages() -> dict[Path, str]:
    """Return the text of every generated page, and of the files with the table of results."""
    results = [Result(study, text) for study, text in texts().items() if (RESULTS / study).is_dir()]
    found = {RESULTS / f"{one.study}.md": study_page(one) for one in results}
    found[RESULTS / "index.md"] = index_page(results)
    found[RESULTS / "values.md"] = values_page(results)
    for one in results:
        figure = (one.folder / "figure.svg").read_text("utf-8")
        found[one.folder / "preview.svg"] = preview(figure)
    for path, home in ((HOME / "README.md", "docs/results/"), (HOME / "docs/index.md", "results/")):
        before, _, rest = path.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        table = headline_table(results, home)
        found[path] = f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2:] or list(texts()))
    elif sys.argv[1:2] == ["--keep"]:
        for name in sys.argv[2:]:
            keep(name)
    for page, content in pages().items():
        page.write_text(content, encoding="utf-8")

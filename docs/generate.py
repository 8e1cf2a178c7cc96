"""Generated pages: commands from their parsers, plugins and columns from the registry.

python docs/generate.py             write the page in git: a line for each plugin
python docs/generate.py --pictures  draw the pictures of plugins, too

The manual has three more pages, made when it is built: commands, plugins in detail, and columns.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict
from importlib.resources import files as files_of
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from routelab.api import Column, Composition, Plugin
from routelab.api.columns import Rows
from routelab.cli import make_parser
from routelab.cluster.infiniband.columns import CHECK
from routelab.registry.catalogue import Catalogue, CatalogueEntry, installed_catalogue
from routelab.registry.columns import core_columns
from routelab.registry.contract import CLAIM_KINDS, composition_names
from routelab.registry.instances import parameter_rows

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

DOCS = Path(__file__).parent
PICTURES = DOCS / "images" / "gallery"
MADE = "<!-- Made by `make pages`; edit docs/generate.py and the plugins. -->"

KINDS = {
    "topology": "Networks.",
    "rules": "Which routes are legal: any selection works on them, as `selection@rules`.",
    "selection": "Which legal route each pair gets: works on any rules, as `selection@rules`.",
    "layers": "Which virtual channel each hop uses, as `selection@rules@layers`.",
    "routing": "Complete algorithms and published names for rules × selection × layers.",
    "metric": "Numbers about a routed network.",
    "traffic": "Which terminals send to which, in a simulation.",
    "workload": "What the ranks of an application send and compute.",
    "engine": "Simulators that run traffic or a workload on a network; parameters are settings.",
    "export": "Files of other programs that hold a network with its routes.",
    "benchmark": "Programs that run on real systems, and what is read of what they print.",
}

EXIT_CODES = (
    "Exit codes: 0 done; 1 the work failed, a routing does not apply, or what was compared "
    "differs; 2 the input is wrong; 3 to 6 [verdicts](../concepts/proof.md#verdicts); 70 a defect "
    "of routelab; 130 interrupted. The options of `routelab` itself may stand before or after the "
    "command."
)

COLUMN_HEADINGS: dict[str, str] = {
    "routes": "Tables of routes",
    "simulations": "Packet simulations",
    "loads": "Offered loads of a packet simulation",
    "terminals": "Terminals of a packet simulation",
    "latencies": "Latencies of packets",
    "channels": "Channels",
    "flows": "Workload simulations",
    "flow-channels": "Channels of a workload simulation",
    "flow-ranks": "Ranks of a workload simulation",
    "flow-pairs": "Pairs of terminals of a workload simulation",
    "benchmarks": "Measurements",
}
"""Headings by kind of rows."""

_ARROWS = {"lower": "↓", "higher": "↑", "": ""}

COLUMN_INTRODUCTION = """\
Tables and figures of a study can name these columns. CSV and JSON output has them, too. Parameters
of plugins, and settings, are columns as well: `dims`, `seed`, `vcs`, or with their kind, such as
`topology.dims`. ↓ means that less is better, ↑ that more is better. *Needs* is the key or setting
that a study must have. This page lists the built-in columns; `routelab plugins columns` also lists
those of installed plugins.
"""

COMMON = ("verbose", "quiet", "log_json")
"""Options that every command has; told once."""

SHOWN = {
    "topology/dragonfly": ("dragonfly", "dfsssp"),
    "topology/fat-tree": ("fat-tree~k=3,levels=3", "dfsssp"),
    "topology/slim-fly": ("slim-fly~q=5", "dfsssp"),
    "topology/polarfly": ("polarfly~q=5", "dfsssp"),
    "topology/hamming": ("hamming~dims=4x4", "dfsssp"),
    "topology/hypercube": ("hypercube~dims=4", "dor"),
    "topology/infiniband": (
        "infiniband~file=config/networks/r64d6h1.net",
        "dfsssp",
    ),
    "topology/megafly": ("megafly", "dfsssp"),
    "topology/random-irregular": ("random-irregular", "dfsssp"),
    "topology/random-regular": ("random-regular~n=16,degree=4", "dfsssp"),
    "topology/torus": ("torus~dims=4x4", "dor"),
    "topology/mesh": ("mesh~dims=4x4", "dor"),
    "topology/graph": ("graph~file=tests/data/abilene.graphml", "dfsssp"),
    "rules/angara": ("torus~dims=4x4x2", "sssp@angara~turns=exact"),
    "rules/direction-order": ("torus~dims=4x4x2", "first@direction-order"),
    "rules/dimension-order": ("torus~dims=4x4x2", "first@dimension-order"),
    "rules/up-down": ("torus~dims=4x4x2", "sssp@up-down"),
    "rules/unrestricted": ("torus~dims=4x4x2", "sssp@unrestricted"),
    "routing/angara-bfs": ("torus~dims=4x2x2x2", "angara-bfs"),
    "routing/angara-genetic": ("torus~dims=4x2x2x2", "angara-genetic"),
    "routing/angara-sssp": ("torus~dims=4x2x2x2", "angara-sssp"),
    "routing/balanced-dor": ("torus~dims=4x2x2x2", "balanced-dor"),
    "routing/dfsssp": ("torus~dims=4x2x2x2", "dfsssp"),
    "routing/dor": ("torus~dims=4x2x2x2", "dor"),
}
"""Plugins with a picture: the network and the routing whose channel loads it shows.

Files are relative to the repository, as pictures and pages name them.
"""


FABRIC_COLUMNS = (("Checks of an InfiniBand fabric", "routelab infiniband check", CHECK),)
"""Columns that only one command has: title, command, columns."""


def commands_page() -> str:
    """Return the reference page of the command line."""
    parser = make_parser()
    lines = [
        "# Commands",
        "",
        EXIT_CODES,
        "",
        *_command("routelab", parser, 2),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _command(name: str, parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    parser.add_missing_options()  # type: ignore[attr-defined]
    yield f"{'#' * level} {name}"
    yield ""
    if parser.examples:  # type: ignore[attr-defined]
        yield from (f"    {example}" for example in parser.examples)  # type: ignore[attr-defined]
        yield ""
    if parser.description:
        yield parser.description
        yield ""
    rows, below = [], {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = action.choices
        elif "--help" not in action.option_strings and (level == 2 or action.dest not in COMMON):
            rows.append(f"| {_spelling(action)} | {_cell(action.help or '')} |")
    if rows:
        yield from ("| argument | meaning |", "| --- | --- |", *rows, "")
    for key, child in below.items():
        yield from _command(f"{name} {key}", child, min(level + 1, 4))


def _spelling(action: argparse.Action) -> str:
    value = action.metavar or (
        "{" + ",".join(action.choices) + "}" if action.choices else action.dest.upper()
    )
    if not action.option_strings:
        return f"`{value}`"
    if action.nargs == 0:
        return ", ".join(f"`{text}`" for text in action.option_strings)
    return ", ".join(f"`{text} {value}`" for text in action.option_strings)


def _cell(text: str) -> str:
    return text.replace("%%", "%").replace("|", "\\|")


def gallery_page(catalogue: Catalogue) -> str:
    """Return the page with a line for each built-in plugin."""
    lines = ["# Plugin gallery", "", MADE, ""]
    lines += ["`routelab plugins show NAME` lists parameters, claims and sources of a plugin.", ""]
    for kind, meaning in KINDS.items():
        lines += [f"## {kind}", "", meaning, "", "| plugin | what it is |", "| --- | --- |"]
        lines += [
            f"| `{entry.key}` | {_cell(plugin.summary)} |"
            for entry, plugin in _built_in(kind, catalogue)
        ]
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def plugins_page(catalogue: Catalogue) -> str:
    """Return the page of all built-in plugins with claims, parameters, pictures and citations."""
    lines = ["# Plugins in detail", ""]
    for kind, meaning in KINDS.items():
        lines += [f"## {kind}", "", meaning, ""]
        for entry, plugin in _built_in(kind, catalogue):
            lines += _plugin(entry, plugin, catalogue)
    return "\n".join(lines).rstrip() + "\n"


def _built_in(kind: str, catalogue: Catalogue) -> Iterator[tuple[CatalogueEntry, type[Plugin]]]:
    for entry in catalogue.entries(kind):
        if entry.distribution == "routelab" and entry.plugin is not None:
            yield entry, entry.plugin


def _plugin(entry: CatalogueEntry, plugin: type[Plugin], catalogue: Catalogue) -> Iterator[str]:
    key = f"{entry.kind}/{entry.key}"
    yield from (f"### {entry.key}", "", f"{plugin.summary}.", "")
    if issubclass(plugin, Composition):
        parts = {part: str(name) for part, name in composition_names(plugin).items()}
        yield from ("; ".join(f"{part}: `{name}`" for part, name in parts.items()), "")
    if key in SHOWN:
        network, routing = SHOWN[key]
        shown = f"{routing} on {network}"
        yield from (f"![{shown}](../images/gallery/{entry.kind}-{entry.key}.png)", "")
    if entry.kind in CLAIM_KINDS:
        yield from (f"Claims: {_claims(plugin)}.", "")
    rows = parameter_rows(plugin, catalogue)
    if rows:
        yield from ("| parameter | type | default | meaning |", "| --- | --- | --- | --- |")
        for row in rows:
            default = f"`{row.default}`" if row.default else ""
            yield f"| `{row.name}` | {_cell(row.type)} | {default} | {_cell(row.description)} |"
        yield ""
    for citation in plugin.citations:
        yield f"- {citation} ({citation.cited_for})"
    if plugin.citations:
        yield ""


def _claims(plugin: type[Plugin]) -> str:
    values = {name: value for name, value in asdict(plugin.capabilities).items() if value}
    if "families" in values:
        values["families"] = ", ".join(values["families"])
    return "; ".join(
        name.replace("_", " ") + ("" if value is True else f" {value}")
        for name, value in values.items()
    )


def columns_page() -> str:
    """Return the reference page of all columns of the core and the built-in plugins."""
    plugins = [
        entry.plugin
        for entry in installed_catalogue().entries()
        if entry.distribution == "routelab" and entry.plugin is not None
    ]
    found = [*core_columns(), *(column for plugin in plugins for column in plugin.columns)]
    # the first declaration counts
    first = {(column.name, column.of): column for column in reversed(found)}
    lines = ["# Columns", "", _column_sections(reversed(first.values()))]
    for title, command, columns in FABRIC_COLUMNS:
        lines += [f"## {title}", "", f"Output of `{command}`; not for studies.", ""]
        lines += _column_tables(columns)
    return "\n".join(lines).rstrip() + "\n"


def _column_sections(columns: Iterable[Column]) -> str:
    """Return sections with tables of columns, by kind of rows and by group."""
    distinct = list({(column.name, column.of): column for column in columns}.values())
    lines = [COLUMN_INTRODUCTION]
    for rows in sorted(get_args(Rows), key=list(COLUMN_HEADINGS).index):
        row_columns = [column for column in distinct if rows in column.of]
        if row_columns:
            lines += [
                f"## {COLUMN_HEADINGS[rows]}",
                "",
                f"`of: {rows}`",
                "",
                *_column_tables(row_columns),
            ]
    return "\n".join(lines).rstrip() + "\n"


def _column_tables(columns: Collection[Column]) -> Iterator[str]:
    """Yield the lines of a table for each group of columns."""
    for group in dict.fromkeys(column.group for column in columns):
        if group:
            yield from (f"### {group}", "")
        yield from (
            "| column | meaning | unit | better | needs |",
            "| --- | --- | --- | --- | --- |",
        )
        yield from (_column_row(column) for column in columns if column.group == group)
        yield ""


def _column_row(column: Column) -> str:
    needs = f"`{column.needs}`" if column.needs else ""
    meaning = column.meaning.replace("|", "\\|")
    cells = (f"`{column.name}`", meaning, column.unit, _ARROWS[column.better], needs)
    return "| " + " | ".join(cells) + " |"


def draw_pictures() -> None:
    """Draw the gallery's pictures."""
    import routelab

    PICTURES.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(DOCS.parent):
        for key, (network, routing) in SHOWN.items():
            figure = routelab.route(network, routing).picture()
            figure.savefig(
                PICTURES / f"{key.replace('/', '-')}.png",
                dpi=70,
                bbox_inches="tight",  # long titles and notes are wider than small networks
                pad_inches=0.1,
                metadata={"Software": ""},
            )


def write_gallery() -> None:
    """Write the page that is in git."""
    page = DOCS / "reference" / "gallery.md"
    page.write_text(gallery_page(installed_catalogue()), encoding="utf-8")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the pages and the script that are not in git; mkdocs calls this."""
    from mkdocs.structure.files import File

    for name, text in (
        ("commands", commands_page()),
        ("plugins", plugins_page(installed_catalogue())),
        ("columns", columns_page()),
    ):
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    script = (files_of("routelab.report") / "templates/tables.js").read_text("utf-8")
    files.append(File.generated(config, "assets/tables.js", content=script))


if __name__ == "__main__":
    write_gallery()
    if "--pictures" in sys.argv:
        draw_pictures()

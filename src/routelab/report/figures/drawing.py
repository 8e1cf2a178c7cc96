"""A drawn figure, its style, and its files: equal data give equal bytes."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from routelab.report.figures.channel_styles import NO_GROUP, scale_colours
from routelab.report.figures.styles import FAINT, INK
from routelab.results.atomic import atomic_file
from routelab.toolkit.csv_cells import escape_cell

_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "text.color": INK,
    # a name with two dollar signs is no formula
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "routelab",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "path.simplify": False,
}
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}
"""Metadata of files by suffix: without times, so that equal drawings give equal bytes."""
SUFFIXES = (*_METADATA, "csv")
"""Files that a figure can be written as."""
DARK = {
    "#ffffff": "#1a1d21",
    "#000000": "#e8eaed",
    INK: "#e8eaed",
    FAINT: "#8f959d",
    "#e3e3e3": "#30343a",
    "#cccccc": "#4a4f57",
    "#0072b2": "#3d9be0",
    NO_GROUP: "#4a4f57",
}
"""Replacements of these colours in SVG files for readers who prefer dark pages."""
_SVG_URI = "http://www.w3.org/2000/svg"
_SVG = f"{{{_SVG_URI}}}"
"""Prefix of names of elements in ElementTree."""


class NotebookFigure(Figure):
    """A figure that notebooks show although pyplot did not create it."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        with house_style():
            self.savefig(stream, format="png", dpi=110, bbox_inches="tight")
        return stream.getvalue()


@dataclass(frozen=True)
class Drawing:
    """A figure that is ready to be saved.

    Attributes
    ----------
    figure : matplotlib Figure
    data : DataFrame
        The numbers in the figure.
    description : str
        Text alternative to the picture.
    tooltips : mapping
        Texts of the lines in SVG files: by the id of a group of lines, such as ``channels-0``, a
        text for each of its lines, in the order of drawing.
    turns : mapping
        By title of the panel, the turns that are marked in it, as rows of a table: a text for each
        column.
    cycles : mapping
        By title of the panel, the steps of the dependency cycle that refutes the route table.
    on_paper : bool
        Whether files keep the colours for white pages on dark ones: parts of the picture are an
        image, which CSS cannot recolour.
    """

    figure: Figure
    data: pd.DataFrame
    description: str
    tooltips: Mapping[str, Sequence[str]] = field(default_factory=dict)
    turns: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    cycles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    on_paper: bool = False


@contextmanager
def house_style() -> Iterator[None]:
    """Set matplotlib's parameters for figures that are drawn and saved in this context."""
    with mpl.rc_context():
        mpl.rcdefaults()  # a user's own parameters would change the bytes
        mpl.rcParams.update(_STYLE)  # type: ignore[arg-type]
        yield


def save_drawing(drawing: Drawing, directory: Path, name: str, suffixes: Collection[str]) -> None:
    """Write ``<name>.<suffix>`` for each suffix, and delete the files with all other `SUFFIXES`.

    The deleted files would show an older drawing. All `suffixes` must be in `SUFFIXES`; others have
    no effect.
    """
    for suffix in SUFFIXES:
        file = directory / f"{name}.{suffix}"
        if suffix in suffixes:
            write_drawing(drawing, file)
        else:
            file.unlink(missing_ok=True)


def write_drawing(drawing: Drawing, file: Path) -> None:
    """Write a picture, or its numbers, atomically; the file's suffix is one of `SUFFIXES`."""
    suffix = file.suffix[1:]
    if suffix == "csv":
        # names of plugins and files can begin like formulas of a spreadsheet
        data = drawing.data
        text_columns = data.columns.drop(data.select_dtypes("number").columns)
        escaped_columns = {
            name: data[name].astype(object).map(escape_cell) for name in text_columns
        }
        escaped_data = data.assign(**escaped_columns).rename(columns=escape_cell)
        with atomic_file(file) as path:
            escaped_data.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
        return
    stream = io.BytesIO()
    with house_style():
        drawing.figure.savefig(
            stream, format=suffix, metadata=_METADATA[suffix], dpi=160, bbox_inches="tight"
        )
    content = stream.getvalue()
    if suffix == "svg":
        content = _accessible_svg(content, drawing)
    with atomic_file(file) as path:
        path.write_bytes(content)


def _accessible_svg(content: bytes, drawing: Drawing) -> bytes:
    """Return the SVG with its description, colours for dark pages, and tooltips.

    Pictures for paper keep their colours.
    """
    # ElementTree would write ns0:svg for names without a registered prefix
    for prefix, uri in (("", _SVG_URI), ("xlink", "http://www.w3.org/1999/xlink")):
        ET.register_namespace(prefix, uri)
    root = ET.fromstring(content)
    root.set("role", "img")
    description = ET.Element(f"{_SVG}desc")
    description.text = drawing.description
    root.insert(0, description)
    if not drawing.on_paper:
        style = ET.Element(f"{_SVG}style")
        style.text = _dark_style(content.decode())
        root.insert(1, style)
    groups = {group.get("id"): group for group in root.iter(f"{_SVG}g")}
    for identifier, texts in drawing.tooltips.items():
        lines = groups[identifier].findall(f"{_SVG}path")
        for line, text in zip(lines, texts, strict=True):
            ET.SubElement(line, f"{_SVG}title").text = text
    stream = io.BytesIO()
    ET.ElementTree(root).write(stream, encoding="utf-8", xml_declaration=True)
    return stream.getvalue()


def _dark_style(content: str) -> str:
    """Return CSS rules that replace the colours of an SVG file for readers who prefer dark pages.

    `content` is the file. matplotlib writes the colours of lines and areas into the attribute
    ``style`` (``stroke: #222222``, ``fill: #222222``), and that of an area with a pattern as
    ``fill="#222222"``. The rules select elements by these texts.
    """
    # The colours of the scale of loads, and those of `DARK`, which have priority.
    scale = zip(scale_colours(dark=False), scale_colours(dark=True), strict=True)
    dark_colour = {**dict(scale), **DARK}
    rules = []
    for light, dark in dark_colour.items():
        # a file contains few of the colours; it has them in lower case, like these
        if light in content:
            # without `!important`, the attribute `style` would have priority over a rule
            rules += [
                f'[style*="fill: {light}" i] {{ fill: {dark} !important }}',
                f'[style*="stroke: {light}" i] {{ stroke: {dark} !important }}',
                f'[fill="{light}" i] {{ fill: {dark} }}',
            ]
    # black areas have no colour attribute
    rules.append(f"svg {{ fill: {DARK['#000000']} }}")
    # Without the color scheme, a browser draws an embedded file on white, also on dark pages.
    return (
        ":root { color-scheme: light dark } "
        f"@media screen and (prefers-color-scheme: dark) {{ {' '.join(rules)} }}"
    )

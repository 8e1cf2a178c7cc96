"""A check as a page: the sentences, and drawings of the fabric."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from routelab.api import InputError
from routelab.artifacts.atomic import atomic_file
from routelab.stages.infiniband.check import FabricCheck
from routelab.stages.infiniband.texts import check_lines

MAX_LOOPS = 5
"""Loops that are drawn."""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>body {{ font-family: sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ white-space: pre-wrap }} svg {{ max-width: 100%; height: auto }}</style>
</head>
<body>
<h1>{title}</h1>
<pre>{text}</pre>
{drawings}
</body>
</html>
"""


def write_page(found: FabricCheck, name: str, file: Path) -> None:
    """Write a page that needs no other file.

    Parameters
    ----------
    found : FabricCheck
    name : str
        Name of the fabric, for the title.
    file : Path
    """
    drawings = [_drawing("Load of each cable, in both directions", found, found.loads, "load")]
    for number, cycle in enumerate(found.cycles[:MAX_LOOPS], 1):
        marked = np.zeros(found.topology.num_channels)
        marked[list(cycle)] = 1
        title = f"Loop {number} of {len(found.cycles)}"
        drawings.append(_drawing(title, found, marked, "cycle"))
    page = _PAGE.format(
        title=escape(f"Check of {name}"),
        text=escape("\n".join(check_lines(found))),
        drawings="\n".join(drawings),
    )
    with atomic_file(file) as new:
        new.write_text(page, encoding="utf-8")


def _drawing(title: str, found: FabricCheck, values: ArrayLike, colour: str) -> str:
    """Return a heading and a drawing; a sentence for a fabric that is too large for one."""
    from routelab.report.figures.kinds.network import draw_network

    heading = f"<h2>{escape(title)}</h2>\n"
    try:
        figure = draw_network(title, found.topology, values, colour)
    except InputError as error:
        return f"{heading}<p>{escape(str(error))}</p>"
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return heading + text.getvalue()[text.getvalue().index("<svg") :]

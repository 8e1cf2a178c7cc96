"""Drawings of flow charts in the manual, which a browser could draw only with a script of a server.

A block ``mermaid`` with lines ``a --> b`` becomes a picture. Each box stands in the column after
the last box that leads to it (`networkx.topological_generations`).
"""

from __future__ import annotations

import re
from typing import Any

import networkx as nx

BOX_WIDTH, BOX_HEIGHT, COLUMN_WIDTH, ROW_HEIGHT = 104, 30, 176, 48


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the flow charts of a page; called by MkDocs."""
    return re.sub(r"```mermaid\nflowchart LR\n(.*?)```\n", _drawn, markdown, flags=re.DOTALL)


def _drawn(block: re.Match[str]) -> str:
    graph = nx.DiGraph(re.findall(r"(\w+) --> (\w+)", block[1]))
    columns = [list(generation) for generation in nx.topological_generations(graph)]
    rows = max(map(len, columns))
    left, middle = {}, {}
    for column, names in enumerate(columns):
        for row, name in enumerate(names):
            left[name] = column * COLUMN_WIDTH
            # columns with fewer boxes are centred
            middle[name] = (row + (rows - len(names)) / 2 + 0.5) * ROW_HEIGHT
    arrows = (_arrow(left[a] + BOX_WIDTH, middle[a], left[b], middle[b]) for a, b in graph.edges)
    boxes = (
        f'<rect x="{x}" y="{middle[name] - BOX_HEIGHT / 2}" width="{BOX_WIDTH}" '
        f'height="{BOX_HEIGHT}" rx="4"/>'
        f'<text x="{x + BOX_WIDTH / 2}" y="{middle[name] + 5}">{name}</text>'
        for name, x in left.items()
    )
    size = f"0 0 {(len(columns) - 1) * COLUMN_WIDTH + BOX_WIDTH} {rows * ROW_HEIGHT}"
    edges = "; ".join(f"{a} to {b}" for a, b in graph.edges)
    return (
        f'<svg class="flow-chart" viewBox="{size}" role="img" aria-label="{edges}">'
        f"{''.join(arrows)}{''.join(boxes)}</svg>\n"
    )


def _arrow(x: float, y: float, end_x: float, end_y: float) -> str:
    bend = (end_x - x) / 2
    return (
        f'<path d="M{x} {y}C{x + bend} {y} {end_x - bend} {end_y} {end_x} {end_y}m-7 -4l7 4l-7 4"/>'
    )

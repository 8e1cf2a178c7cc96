"""The best entry of each instance: a table, a page and a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from routelab.instances.collection import Collection, Instance
from routelab.instances.entries import gap
from routelab.results.atomic import atomic_file
from routelab.results.tables import write_csv

COLUMNS = (
    "instance",
    "switches",
    "channels",
    "virtual_channels",
    "per",
    "bound",
    "best",
    "gap_percent",
    "state",
    "who",
    "entry",
    "date",
    "certificate",
)
PAGE, PICTURE = "docs/results/instances.md", "instances/gaps.svg"

TEXT = """\
# Instances: how near are routes to the proven least load?

**{closed} of {count} instances are closed: an entry has the load that no routes can go below.
{open} are open.** An instance is a network with a number of virtual channels. Its objective is the
maximum load when every switch sends to every other one. The bound holds for routes of any length.
Anyone can recompute it: its certificate is a weight for each channel.

![Distance of all entries from the bound]({picture})

Figure: Distance from the bound by instance and routing. Those at 0 are proven to be the best.

{best}

## Enter yours

1. Take `instances/v1/NAME/network.csv`: a line for each channel. The rules of the instance are in
   `instance.json` beside it.
2. With any program, write a line for each route, as `source,target,switches`; `B@1` is a hop to
   switch B on virtual channel 1. Where a packet keeps its virtual channel, a table of next hops
   will do: `switch,target,next`. Put the file as `routes.csv.gz` into a folder, and beside it an
   `about.json` that says what you claim.
3. Run `python3 instances/check.py NAME FOLDER`. It needs nothing but Python: it follows all routes,
   looks for cycles of dependencies, adds up the loads and proves the bound again. Add the folder as
   `instances/best/NAME/YOU`.

`instances/README.md` has the rules, and an `about.json` to copy. For a routing of routelab,
`routelab instances run NAME ROUTING` does steps 2 and 3.

## All entries

{matrix}

The table has the maximum load of each routing. A dash means that it does not apply to the network,
or needs what the instance does not have: more virtual channels, another one at the next hop, or
several routes of a pair. The folders of entries have their parameters.
"""


def best_rows(collection: Collection) -> list[tuple[object, ...]]:
    """Return a row for each instance, with `COLUMNS`."""
    return [_best_row(collection.instance(name)) for name in collection.names]


def _best_row(instance: Instance) -> tuple[object, ...]:
    """Return the row of an instance, with `COLUMNS`; empty texts where it has no entry."""
    rules, bound = instance.rules, instance.bound
    best = next(iter(instance.entries()), None)
    facts = (
        instance.name,
        len({end for channel in instance.capacity for end in channel}),
        len(instance.capacity),
        rules["virtual_channels"],
        rules["per"],
        bound,
    )
    if best is None:
        return (*facts, "", "", "open", "", "", "", "yes")
    state = "closed" if best.value == bound else "open"
    distance = f"{gap(best.value, bound):.2f}"
    author = best.about["who"], best.folder.name, best.about["date"]
    return (*facts, best.value, distance, state, *author, "yes")


def write_tables(collection: Collection) -> tuple[Path, Path, Path]:
    """Check entries (`Instance.check_entries`); write ``best.csv``, the page and its picture.

    Returns their paths.

    Raises
    ------
    InputError
        If an entry is not accepted.
    """
    instances = [collection.instance(name) for name in collection.names]
    for instance in instances:
        instance.check_entries()
    table = collection.root / "best.csv"
    rows = best_rows(collection)
    write_csv(table, COLUMNS, [tuple(map(str, row)) for row in rows])
    page = collection.root.parent / PAGE
    picture = page.parent / PICTURE
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw_gaps(instances, picture)
    states = [row[COLUMNS.index("state")] for row in rows]
    # the page leaves out who made the best entry, its date and the certificate
    page_columns = [*range(COLUMNS.index("state") + 1), COLUMNS.index("entry")]
    headings = [COLUMNS[k].replace("_percent", " (%)").replace("_", " ") for k in page_columns]
    with atomic_file(page) as draft:
        text = TEXT.format(
            count=len(states),
            closed=states.count("closed"),
            open=states.count("open"),
            picture=PICTURE,
            best=_markdown(headings, [[row[k] for k in page_columns] for row in rows]),
            matrix=_matrix(instances),
        )
        draft.write_text(text, encoding="utf-8")
    return table, page, picture


def best_loads(instance: Instance) -> dict[str, Fraction]:
    """Return the least load of each routing with any parameters, the best first."""
    loads: dict[str, Fraction] = {}
    # the folder is named by the routing: sssp~weight=2@up-down is sssp@up-down with a parameter
    for entry in instance.entries():
        routing = re.sub(r"~[^@]*", "", entry.folder.name)
        loads.setdefault(routing, entry.value)
    return loads


def _matrix(instances: list[Instance]) -> str:
    """Return a Markdown table of the least loads: a row for each routing, after the bounds."""
    loads = {instance.name: best_loads(instance) for instance in instances}
    routings = sorted(
        {routing for loads_by_routing in loads.values() for routing in loads_by_routing}
    )
    bounds = ["**bound**", *(f"**{instance.bound}**" for instance in instances)]
    rows = [
        [routing, *(loads_by_routing.get(routing, "–") for loads_by_routing in loads.values())]
        for routing in routings
    ]
    return _markdown(["routing", *loads], [bounds, *rows])


def _markdown(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines: list[Sequence[object]] = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def draw_gaps(instances: list[Instance], file: Path) -> None:
    """Draw the distance of loads from the bound: a line for each instance, points for routings.

    Parameters
    ----------
    instances : list of Instance
    file : Path
        SVG.
    """
    import pandas as pd
    import seaborn as sns
    from matplotlib.figure import Figure

    from routelab.report.figures.drawing import Drawing, house_style, write_drawing

    cells = [
        (instance.name, routing, gap(load, instance.bound))
        for instance in instances
        for routing, load in best_loads(instance).items()
    ]
    # the legend begins with the routings that are nearest to the bounds
    data = pd.DataFrame(cells, columns=["instance", "routing", "gap"])
    near = data.groupby("routing")["gap"].median().sort_values().index
    with house_style():
        figure = Figure(figsize=(8, 1.5 + 0.35 * len(instances)), layout="constrained")
        axis = figure.subplots()
        sns.scatterplot(
            data=data,
            x="gap",
            y="instance",
            hue="routing",
            style="routing",
            hue_order=near,
            style_order=near,
            palette=sns.color_palette("husl", len(near)),
            s=45,
            alpha=0.8,
            ax=axis,
        )
        # closed instances are at 0, which has no logarithm: linear up to 10 %
        axis.set_xscale("symlog", linthresh=10)
        axis.set_xlim(-1, None)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("distance from the bound (%)")
        axis.set_ylabel("")
        sns.move_legend(axis, "upper left", bbox_to_anchor=(1.0, 1.0), title=None, fontsize=8)
    write_drawing(Drawing(figure, data, "Distance of entries from the bound."), file)

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
    row: dict[str, object] = dict.fromkeys(COLUMNS, "")
    row |= {
        "instance": instance.name,
        "switches": len({switch for channel in instance.capacity for switch in channel}),
        "channels": len(instance.capacity),
        "virtual_channels": rules["virtual_channels"],
        "per": rules["per"],
        "bound": bound,
        "state": "open",
        # `instance.bound` is computed from the certificate, so there is one
        "certificate": "yes",
    }
    best = next(iter(instance.entries()), None)
    if best is not None:
        row |= {
            "best": best.value,
            "gap_percent": f"{gap(best.value, bound):.2f}",
            "state": "closed" if best.value == bound else "open",
            "who": best.about["who"],
            "entry": best.folder.name,
            "date": best.about["date"],
        }
    return tuple(row.values())


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
    # The page has the columns of the table up to "state", and "entry": it leaves out who made the
    # best entry, its date and the certificate.
    page_columns = [*range(COLUMNS.index("state") + 1), COLUMNS.index("entry")]
    headings = [COLUMNS[k].replace("_percent", " (%)").replace("_", " ") for k in page_columns]
    with atomic_file(page) as draft:
        text = TEXT.format(
            count=len(states),
            closed=states.count("closed"),
            open=states.count("open"),
            picture=PICTURE,
            best=_markdown(headings, [[row[k] for k in page_columns] for row in rows]),
            matrix=_load_table(instances),
        )
        draft.write_text(text, encoding="utf-8")
    return table, page, picture


def best_loads(instance: Instance) -> dict[str, Fraction]:
    """Return the least load of each routing over all its parameters, the best routing first."""
    loads: dict[str, Fraction] = {}
    # The best entries come first, so the first one of a routing has its least load.
    for entry in instance.entries():
        # its folder has the name of the routing: "sssp~weight=2@up-down" becomes "sssp@up-down"
        routing = re.sub(r"~[^@]*", "", entry.folder.name)
        loads.setdefault(routing, entry.value)
    return loads


def _load_table(instances: list[Instance]) -> str:
    """Return a Markdown table of the least load of each routing (row) on each instance (column).

    The first row has the bounds.
    """
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

    points = [
        (instance.name, routing, gap(load, instance.bound))
        for instance in instances
        for routing, load in best_loads(instance).items()
    ]
    # the legend begins with the routings that are nearest to the bounds
    data = pd.DataFrame(points, columns=["instance", "routing", "gap"])
    routings = data.groupby("routing")["gap"].median().sort_values().index
    with house_style():
        figure = Figure(figsize=(8, 1.5 + 0.35 * len(instances)), layout="constrained")
        axis = figure.subplots()
        sns.scatterplot(
            data=data,
            x="gap",
            y="instance",
            hue="routing",
            style="routing",
            hue_order=routings,
            style_order=routings,
            palette=sns.color_palette("husl", len(routings)),
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

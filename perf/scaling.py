"""Time and memory of routing against size, and by stage: ``make scaling``, ``make profile``.

Every point is a process of its own (`perf/one_point.py`), one after the other. Writes a CSV file
and a figure to ``perf/results/``; the page ``docs/concepts/scale.md`` quotes them by hand. Machines
differ and are shared: read the numbers of one run against each other.

    python perf/scaling.py curves             5 minutes
    python perf/scaling.py profile            where the time goes, a row a stage
    python perf/scaling.py curves --largest   with 10,000 nodes: 9 GB of memory, half an hour more
    python perf/scaling.py curves --only 6x6  points with this in their dimensions
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROUTINGS = ("angara-sssp", "angara-balanced", "angara-bfs", "dor", "sssp@angara~turns=exact")
NETWORKS = (
    ("4x4x4", 0),
    ("6x6x6", 0),
    ("8x8x8", 0),
    ("10x10x10", 0),
    ("10x10x10", 10),
    ("16x16x2x2", 0),
    ("6x6x6x5", 0),
    ("12x12x12", 0),
    ("16x16x16", 0),
)
"""Dimensions and failed links."""
LARGEST = (("10x10x10x10", 0),)
PROFILED = (("10x10x10", 0), ("10x10x10", 10), ("6x6x6x5", 0))
PROFILED_ROUTINGS = ("angara-sssp", "angara-balanced")

# one thread each, so that times are those of one core
ENVIRONMENT = os.environ | dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)


def run_point(dims: str, failed: int, routing: str, options: list[str]) -> dict[str, Any]:
    """What a process tells of its point, or the last line of its complaint as ``reason``."""
    command = [sys.executable, str(HERE / "one_point.py"), dims, str(failed), routing, *options]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    point = {"dims": dims, "failed_links": failed, "routing": routing}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended by signal {-done.returncode}"]
        return point | {"reason": lines[-1]}
    return point | json.loads(done.stdout.splitlines()[-1])


def curves(points: list[tuple[str, int, str]], options: list[str]) -> list[dict[str, Any]]:
    rows = []
    for dims, failed, routing in points:
        row = run_point(dims, failed, routing, options)
        rows.append(row)
        if "reason" in row:
            print(f"{dims:12} {failed:3} {routing:24} {row['reason']}", flush=True)
            continue
        print(
            f"{dims:12} {failed:3} {routing:24} {row['cpu_seconds']:8.3f} s "
            f"{row['peak_mb']:8.0f} MB",
            flush=True,
        )
    return rows


def profile(points: list[tuple[str, int, str]], options: list[str]) -> list[dict[str, Any]]:
    """A row for each stage of each point."""
    rows = []
    for dims, failed, routing in points:
        figures = run_point(dims, failed, routing, [*options, "--profile"])
        point = {"dims": dims, "failed_links": failed, "routing": routing}
        print(f"\n{dims} {failed} {routing} {figures.get('reason', '')}")
        for stage, seconds in figures.get("stages", {}).items():
            rows.append(point | {"stage": stage, "cpu_seconds": round(seconds, 4)})
            print(f"    {stage:24} {seconds:8.3f} s", flush=True)
        for stage, peak in figures.get("peaks_mb", {}).items():
            rows.append(point | {"stage": f"peak after {stage}", "peak_mb": round(peak)})
            print(f"    peak after {stage:24} {peak:8.0f} MB", flush=True)
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """CPU seconds and peak memory against nodes, log-log, a line a routing."""
    import matplotlib.pyplot as plt
    import seaborn as sns

    measured = [row for row in rows if "reason" not in row and not row["failed_links"]]
    measured.sort(key=lambda row: row["nodes"])
    colours = sns.color_palette("colorblind", len(ROUTINGS))
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for axis, column, label in zip(
        axes,
        ("cpu_seconds", "peak_mb"),
        ("CPU seconds of routing", "peak memory of the process (MB)"),
        strict=True,
    ):
        for routing, colour in zip(ROUTINGS, colours, strict=True):
            # cubes and higher dimensions apart, so that a line is one kind of network
            for dimensions, marker in ((3, "o"), (4, "s")):
                line = [
                    (row["nodes"], row[column])
                    for row in measured
                    if row["routing"] == routing and row["dims"].count("x") == dimensions - 1
                ]
                if line:
                    known = axis.get_legend_handles_labels()[1]
                    name = None if routing in known else routing
                    style = "-" if dimensions == 3 else ""
                    axis.plot(*zip(*line, strict=True), style + marker, color=colour, label=name)
        axis.set(xscale="log", yscale="log", xlabel="nodes", ylabel=label)
        axis.grid(alpha=0.3)
    axes[0].legend(title="squares: 4-D")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("curves", "profile"))
    parser.add_argument("--largest", action="store_true", help="with 10,000 nodes")
    parser.add_argument("--only", default="", help="only dimensions that contain this")
    parser.add_argument("--routings", nargs="+", help="others than the usual ones")
    parser.add_argument("--memory-gb", default="20", help="most memory of a point")
    arguments = parser.parse_args()
    whole = arguments.what == "curves"
    networks = (NETWORKS if whole else PROFILED) + (LARGEST if arguments.largest else ())
    routings = arguments.routings or (ROUTINGS if whole else PROFILED_ROUTINGS)
    points = [
        (dims, failed, routing)
        for (dims, failed), routing in product(networks, routings)
        if arguments.only in dims
    ]
    rows = (curves if whole else profile)(points, ["--memory-gb", arguments.memory_gb])
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with (folder / f"{arguments.what}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    if whole:
        draw(rows, folder / "curves.svg")
    print(f"\n{folder / arguments.what}.csv")


if __name__ == "__main__":
    main()

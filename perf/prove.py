"""CPU time and memory of `routelab prove` against the number of routes.

    python perf/prove.py 10000 1000000 10000000

The routes are those of dimension order on a torus of three dimensions, the first of them in order
of their sources. The list of ten million has 0.7 GB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import TextIO


def ring_walk(a: int, b: int, size: int) -> list[int]:
    """Return the coordinates after a on the shorter way round a ring to b."""
    ahead = (b - a) % size
    if ahead <= size // 2:
        return [(a + step) % size for step in range(1, ahead + 1)]
    return [(a - step) % size for step in range(1, size - ahead + 1)]


def write_routes(stream: TextIO, count: int) -> None:
    """Write the first routes of the smallest torus that has so many."""
    size = next(size for size in range(2, 100) if size**3 * (size**3 - 1) >= count)
    walks = [[ring_walk(a, b, size) for b in range(size)] for a in range(size)]
    names = {node: ".".join(map(str, node)) for node in product(range(size), repeat=3)}
    stream.write("source,target,switches\n")
    for source, target in product(names, repeat=2):
        if source == target:
            continue
        (a, b, c), (x, y, z) = source, target
        nodes = [(i, b, c) for i in walks[a][x]] + [(x, j, c) for j in walks[b][y]]
        nodes += [(x, y, k) for k in walks[c][z]]
        cells = [names[source], names[target], *(names[node] for node in nodes)]
        stream.write(",".join(cells) + "\n")
        count -= 1
        if count == 0:
            return


def main(counts: list[int]) -> None:
    """Measure each number of routes once."""
    print(f"{'routes':>10} {'file MB':>8} {'CPU s':>7} {'memory MB':>10}  verdict")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "routes.csv"
            with file.open("w") as stream:
                write_routes(stream, count)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ended = subprocess.run(
                [sys.executable, "-m", "routelab", "prove", str(file)],
                capture_output=True,
                text=True,
                check=False,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            # the first lines say what was read
            answer = [line for line in ended.stdout.splitlines() if not line.startswith("read:")]
            print(
                f"{count:10} {file.stat().st_size / 1e6:8.0f} {seconds:7.1f} "
                f"{after.ru_maxrss / 1000:10.0f}  {answer[0].partition(':')[0]}"
            )


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]])

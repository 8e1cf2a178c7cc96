"""The MPI program of mpi-patterns: times a communication pattern, and prints in OSU's form.

It is a standalone file that needs mpi4py and NumPy only, for the Python of a cluster:

    mpiexec -n 8 python3 mpi_patterns.py transpose -m 1048576:1048576 -i 100 -x 10

Ranks determine senders and receivers, and no rank sends to itself. Every rank starts all its
messages at the same time, after a barrier before each round:

transpose
    the matrix of ranks nearest to a square, lying, is transposed: r * C + c to c * R + r
neighbor
    r to r + 1
tornado
    r to r + ceil(P / 2) - 1, modulo the number of ranks P, as the one before
alltoall
    MPI_Alltoall
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

VERSION = "1.0"
PATTERNS = ("transpose", "neighbor", "tornado", "alltoall")

LINKS = "ROUTELAB_MPI_LINKS"
"""Environment variable with the folder of links that this program made before its restart."""


def target(pattern: str, rank: int, ranks: int) -> int:
    """Return the rank to which a rank sends."""
    if pattern == "neighbor":
        return (rank + 1) % ranks
    if pattern == "tornado":
        return (rank + (ranks + 1) // 2 - 1) % ranks
    rows = next(count for count in range(isqrt(ranks), 0, -1) if ranks % count == 0)
    row, column = divmod(rank, ranks // rows)
    return column * rows + row


def load_mpi() -> Any:
    """Import mpi4py with the MPI that started this process.

    mpi4py's wheels look for MPICH under its ABI name, which Debian's package lacks. In this case
    the program restarts itself with a link of that name.
    """
    links = os.environ.pop(LINKS, "")
    # where both are installed mpi4py would take the same one under either launcher
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        os.environ.setdefault("MPI4PY_MPIABI", "openmpi")
    elif "PMI_RANK" in os.environ:
        os.environ.setdefault("MPI4PY_MPIABI", "mpich")
    try:
        import mpi4py

        mpi4py.rc.threads = False
        from mpi4py import MPI
    except ModuleNotFoundError:
        sys.exit(
            f"error: {sys.executable} has no mpi4py; install routelab[cluster] there, or set "
            "another python"
        )
    except (ImportError, RuntimeError) as error:
        library = None if links else debian_mpich()
        if library is None:
            sys.exit(f"error: mpi4py finds no MPI: {error}")
        start_again(library)
    finally:
        if links:
            shutil.rmtree(links, ignore_errors=True)
    return MPI


def debian_mpich() -> Path | None:
    """Return MPICH's library under Debian's name, if it exists."""
    try:
        ctypes.CDLL("libmpich.so.12")
    except OSError:
        return None
    mapped = Path("/proc/self/maps").read_text(encoding="utf-8").split()
    return next((Path(word) for word in mapped if "/libmpich.so.12" in word), None)


def start_again(library: Path) -> None:
    """Restart this program with `library` under the name libmpi.so.12; does not return."""
    links = tempfile.mkdtemp(prefix="routelab-mpi-")
    Path(links, "libmpi.so.12").symlink_to(library)
    paths = [links, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    environment = os.environ | {LINKS: links, "LD_LIBRARY_PATH": os.pathsep.join(paths)}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def content(source: int, to: int, size: int) -> Any:
    """Return the content of a message; it differs between pairs and between positions."""
    shift = (source * 131 + to * 31) % 251
    return ((np.arange(size) + shift) % 251).astype(np.uint8)


class Pattern:
    """One size of a pattern on one rank: its buffers, and a round."""

    def __init__(self, mpi: Any, pattern: str, size: int) -> None:
        self.world, self.size = mpi.COMM_WORLD, size
        rank, ranks = self.world.rank, self.world.size
        if pattern == "alltoall":
            self.targets = self.sources = list(range(ranks))
        else:
            goes = [target(pattern, sender, ranks) for sender in range(ranks)]
            self.targets = [goes[rank]] if goes[rank] != rank else []
            self.sources = [goes.index(rank)] if goes.index(rank) != rank else []
        parts = [content(rank, to, size) for to in self.targets]
        self.sent = np.concatenate([np.zeros(0, np.uint8), *parts])
        self.received = np.zeros(len(self.sources) * size, np.uint8)
        self.round: Callable[[], None] = self._messages
        if pattern == "alltoall":
            self.round = self._alltoall
        self.wait = mpi.Request.Waitall

    def _messages(self) -> None:
        open_ = [self.world.Irecv(self.received, source) for source in self.sources]
        open_ += [self.world.Isend(self.sent, to) for to in self.targets]
        self.wait(open_)

    def _alltoall(self) -> None:
        self.world.Alltoall(self.sent, self.received)

    def right(self) -> bool:
        """Whether the received contents are those that the others send."""
        rank = self.world.rank
        parts = [content(source, rank, self.size) for source in self.sources]
        expected = np.concatenate([np.zeros(0, np.uint8), *parts])
        return bool((self.received == expected).all())


def time_rounds(mpi: Any, options: argparse.Namespace, size: int) -> tuple[float, bool]:
    """Return the mean time of a round on this rank in microseconds, and if contents are right."""
    pattern = Pattern(mpi, options.pattern, size)
    pattern.world.Barrier()
    pattern.round()
    right = pattern.right()
    for _ in range(options.warm_up):
        pattern.world.Barrier()
        pattern.round()
    seconds = 0.0
    for _ in range(options.iterations):
        pattern.world.Barrier()
        begin = mpi.Wtime()
        pattern.round()
        seconds += mpi.Wtime() - begin
    return seconds / options.iterations * 1e6, right


def main() -> int:
    """Measure all sizes; rank 0 prints."""
    options = arguments()
    mpi = load_mpi()
    world = mpi.COMM_WORLD
    say(
        world,
        f"# routelab MPI Pattern {options.pattern} Latency Test v{VERSION}, {world.size} processes",
        "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations",
    )
    size, largest = options.sizes
    while size <= largest:
        results = world.allgather(time_rounds(mpi, options, size))
        failed = [rank for rank, (_, right) in enumerate(results) if not right]
        if failed:
            say(world, f"# Verification FAILED: rank {failed[0]}, {size} bytes")
            return 1
        times = [time for time, _ in results]
        numbers = (sum(times) / len(times), min(times), max(times))
        row = "".join(f"{number:18.2f}" for number in numbers)
        say(world, f"{size:<10d}{row}{options.iterations:12d}")
        size *= 2
    say(world, "# Verification SUCCESSFUL")
    return 0


def say(world: Any, *lines: str) -> None:
    """Print on rank 0 and flush."""
    if world.rank == 0:
        print("\n".join(lines), flush=True)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pattern", choices=PATTERNS)
    parser.add_argument("-m", dest="sizes", type=size_range, default=(1 << 20, 1 << 20))
    parser.add_argument("-i", dest="iterations", type=int, default=100)
    parser.add_argument("-x", dest="warm_up", type=int, default=10)
    return parser.parse_args()


def size_range(text: str) -> tuple[int, int]:
    """Parse ``LEAST:GREATEST``, both at least 1 byte."""
    least, _, greatest = text.partition(":")
    if int(least) < 1 or int(greatest) < int(least):
        raise ValueError(text)
    return int(least), int(greatest)


if __name__ == "__main__":
    sys.exit(main())

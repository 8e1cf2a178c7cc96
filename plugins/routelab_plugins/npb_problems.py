"""The problems of the NAS Parallel Benchmarks, and the numbers of processes that they support.

Version 3.3 means 3.3.1, the last of that line.
"""

from __future__ import annotations

from typing import Literal

NpbKernel = Literal["lu", "mg", "cg", "ft", "is"]

LU = {
    "S": (12, 50),
    "W": (33, 300),
    "A": (64, 250),
    "B": (102, 250),
    "C": (162, 250),
    "D": (408, 300),
    "E": (1020, 300),
}
"""Points in each dimension, and iterations."""

MG = {
    "S": (32, 4),
    "W": (128, 4),
    "A": (256, 4),
    "B": (256, 20),
    "C": (512, 20),
    "D": (1024, 50),
    "E": (2048, 50),
}
"""Points in each dimension, and iterations."""

CG = {
    "S": (1400, 7, 15),
    "W": (7000, 8, 15),
    "A": (14_000, 11, 15),
    "B": (75_000, 13, 75),
    "C": (150_000, 15, 75),
    "D": (1_500_000, 21, 100),
    "E": (9_000_000, 26, 100),
}
"""Order of the matrix, nonzeros of the vectors that it is made of, and iterations."""

FT = {
    "S": ((64, 64, 64), 6),
    "W": ((128, 128, 32), 6),
    "A": ((256, 256, 128), 6),
    "B": ((512, 256, 256), 20),
    "C": ((512, 512, 512), 20),
    "D": ((2048, 1024, 1024), 25),
    "E": ((4096, 2048, 2048), 25),
}
"""Grid points, and iterations."""

IS_KEYS_LOG2 = {"S": 16, "W": 20, "A": 23, "B": 25, "C": 27, "D": 31, "E": 35}
"""Binary logarithm of the number of keys; always 10 iterations."""

IS_ITERATIONS = 10
IS_SECOND_KEY = 10
"""Distance between the two keys that an iteration of IS changes."""

IS_PROCESSES = {"S": (1, 128), "D": (4, 1024)}
"""Minimum and maximum, if different from `IS_USUALLY`."""
IS_USUALLY = (1, 1024)

LU_SMALLEST = 3
"""Points that a rank of LU needs in each dimension."""
MG_PROCESSES = 131_072
"""Largest number of processes of MG."""


def size_and_iterations(kernel: NpbKernel, class_: str) -> tuple[tuple[int, ...], int]:
    """Return the size as the programs print it, one number or three, and the iterations."""
    if kernel == "is":
        return (1 << IS_KEYS_LOG2[class_],), IS_ITERATIONS
    if kernel == "cg":
        return CG[class_][:1], CG[class_][-1]
    if kernel == "ft":
        return FT[class_]
    points, iterations = (LU if kernel == "lu" else MG)[class_]
    return (points,) * 3, iterations


def ranks_problem(
    kernel: NpbKernel, class_: str, version: str, ranks: int, iterations: int | None = None
) -> str | None:
    """Return why a benchmark does not support a number of processes; None if it does.

    Parameters
    ----------
    kernel : str
    class_ : str
    version : str
    ranks : int
    iterations : int, optional
        Timed iterations, if different from those of the class.
    """
    name = f"NPB {version} {kernel.upper()} class {class_}"
    if kernel == "lu":
        return _lu(name, LU[class_][0], ranks)
    if kernel == "is":
        return _is(name, class_, ranks, iterations or IS_ITERATIONS) or _power_of_two(name, ranks)
    reason = _power_of_two(name, ranks)
    if reason is None and kernel == "mg":
        return _mg(name, MG[class_][0], ranks)
    if reason is None and kernel == "ft":
        return _ft(name, FT[class_][0], ranks)
    return reason


def lu_grid(ranks: int) -> tuple[int, int] | None:
    """Return columns and rows of ranks: the nearest factors, at most 2 to 1; None if none."""
    rows = int((ranks + 0.001) ** 0.5)
    while ranks % rows:
        rows -= 1
    columns = ranks // rows
    return (columns, rows) if columns <= 2 * rows else None


def mg_grid(ranks: int) -> tuple[int, int, int]:
    """Return the ranks along each axis, for a power of two of ranks."""
    bits = ranks.bit_length() - 1
    x = bits // 3
    y = (bits - x) // 2
    return 1 << x, 1 << y, 1 << (bits - x - y)


def ft_grid(sizes: tuple[int, int, int], ranks: int) -> tuple[int, int]:
    """Return rows and columns of ranks: one row if there are enough planes."""
    planes = sizes[2]
    return (1, ranks) if ranks <= planes else (planes, ranks // planes)


def _power_of_two(name: str, ranks: int) -> str | None:
    if ranks & (ranks - 1) == 0:
        return None
    below = 1 << (ranks.bit_length() - 1)
    return f"{name} needs a power of two of processes (such as {below}), not {ranks}"


def _lu(name: str, points: int, ranks: int) -> str | None:
    """Return why LU of so many points along an axis cannot run; None if it can."""
    shape = lu_grid(ranks)
    if shape is None:
        return f"{name} needs n1 x n2 processes with n1 / 2 <= n2 <= n1, and {ranks} are not"
    if points // shape[0] < LU_SMALLEST:
        return (
            f"{name}: subdomain size is too small: {points} points on {shape[0]} of the "
            f"{shape[0]}x{shape[1]} processes leave {points // shape[0]} to some, and "
            f"{LU_SMALLEST} are needed"
        )
    return None


def _mg(name: str, points: int, ranks: int) -> str | None:
    """Return why MG of so many points along an axis cannot run; None if it can."""
    if ranks > MG_PROCESSES:
        return f"{name} runs on {MG_PROCESSES} processes at most, not on {ranks}"
    longest_side = max(mg_grid(ranks))
    if longest_side > points:
        return (
            f"{name} has {points} points along an axis, too few for the {longest_side} of {ranks} "
            "processes along one"
        )
    return None


def _ft(name: str, sizes: tuple[int, int, int], ranks: int) -> str | None:
    """Return why FT of these sizes cannot run; None if it can."""
    rows, columns = ft_grid(sizes, ranks)
    if rows > min(sizes[:2]) or columns > min(sizes[1:]):
        return (
            f"{name}: {ranks} processes make a grid of {rows}x{columns}, and "
            f"{'x'.join(map(str, sizes))} points cannot be divided so"
        )
    return None


def _is(name: str, class_: str, ranks: int, iterations: int) -> str | None:
    """Return why IS of this class cannot run; None if it can."""
    low, high = IS_PROCESSES.get(class_, IS_USUALLY)
    if not low <= ranks <= high:
        return f"{name} runs on {low} to {high} processes, {ranks} are not within this range"
    if iterations + IS_SECOND_KEY >= (1 << IS_KEYS_LOG2[class_]) // ranks:
        return (
            f"{name}: each iteration changes a key of rank 0, and on {ranks} processes that has "
            "too few"
        )
    return None

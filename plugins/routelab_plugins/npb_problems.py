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
"""Distance between the two keys that an iteration of IS changes: numbers i and i + 10."""

IS_PROCESSES = {"S": (1, 128), "D": (4, 1024)}
"""Minimum and maximum number of processes of IS, if different from `IS_USUAL_PROCESSES`."""
IS_USUAL_PROCESSES = (1, 1024)

LU_SMALLEST = 3
"""Points that a rank of LU needs in each dimension."""
MG_PROCESSES = 131_072
"""Largest number of processes of MG."""


def size_and_iterations(kernel: NpbKernel, class_: str) -> tuple[tuple[int, ...], int]:
    """Return the size as the programs print it, and the iterations.

    The size is one number for IS (keys) and CG (order of the matrix), three for the grids of the
    others.
    """
    if kernel == "is":
        return (1 << IS_KEYS_LOG2[class_],), IS_ITERATIONS
    if kernel == "cg":
        order, _, iterations = CG[class_]
        return (order,), iterations
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
        From ``S`` to ``E``.
    version : str
        Only for the text: both releases have the same limits.
    ranks : int
    iterations : int, optional
        Timed iterations, if different from those of the class; only IS has a limit for them.
    """
    name = f"NPB {version} {kernel.upper()} class {class_}"
    if kernel == "lu":
        points, _ = LU[class_]
        return _lu_problem(name, points, ranks)
    no_power_of_two = _power_of_two_problem(name, ranks)
    if kernel == "is":
        return _is_problem(name, class_, ranks, iterations or IS_ITERATIONS) or no_power_of_two
    if no_power_of_two is None and kernel == "mg":
        points, _ = MG[class_]
        return _mg_problem(name, points, ranks)
    if no_power_of_two is None and kernel == "ft":
        sizes, _ = FT[class_]
        return _ft_problem(name, sizes, ranks)
    return no_power_of_two


def lu_grid(ranks: int) -> tuple[int, int] | None:
    """Return columns and rows of the grid of ranks, such as (8, 4) for 32.

    They are the factors of `ranks` that are nearest to each other; None if the larger one is more
    than twice the smaller one.
    """
    # 0.001, so that rounding cannot make the root of a square number smaller
    rows = int((ranks + 0.001) ** 0.5)
    while ranks % rows:
        rows -= 1
    columns = ranks // rows
    return (columns, rows) if columns <= 2 * rows else None


def mg_grid(ranks: int) -> tuple[int, int, int]:
    """Return the ranks along each axis, such as (2, 4, 4) for 32; `ranks` is a power of two."""
    ranks_log2 = ranks.bit_length() - 1
    x_log2 = ranks_log2 // 3
    y_log2 = (ranks_log2 - x_log2) // 2
    return 1 << x_log2, 1 << y_log2, 1 << (ranks_log2 - x_log2 - y_log2)


def ft_grid(sizes: tuple[int, int, int], ranks: int) -> tuple[int, int]:
    """Return rows and columns of ranks: one row if there are enough planes."""
    planes = sizes[2]
    return (1, ranks) if ranks <= planes else (planes, ranks // planes)


def _power_of_two_problem(name: str, ranks: int) -> str | None:
    if ranks & (ranks - 1) == 0:
        return None
    next_lower = 1 << (ranks.bit_length() - 1)
    return f"{name} needs a power of two of processes (such as {next_lower}), not {ranks}"


def _lu_problem(name: str, points: int, ranks: int) -> str | None:
    """Return why LU of so many points along an axis cannot run; None if it can."""
    shape = lu_grid(ranks)
    if shape is None:
        return f"{name} needs n1 x n2 processes with n1 / 2 <= n2 <= n1, and {ranks} are not"
    columns, rows = shape
    # Each rank has points // columns points along one axis, and points // rows along the other.
    # There are at least as many columns as rows, so it has fewest along the axis of the columns.
    if points // columns < LU_SMALLEST:
        return (
            f"{name}: subdomain size is too small: {points} points on {columns} of the "
            f"{columns}x{rows} processes leave {points // columns} to some, and "
            f"{LU_SMALLEST} are needed"
        )
    return None


def _mg_problem(name: str, points: int, ranks: int) -> str | None:
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


def _ft_problem(name: str, sizes: tuple[int, int, int], ranks: int) -> str | None:
    """Return why FT of these sizes (x, y, z) cannot run; None if it can."""
    rows, columns = ft_grid(sizes, ranks)
    # While it transforms along x, y and z in turn, the other two axes are divided: rows of ranks
    # divide x or y, columns y or z. Every rank needs a point.
    if rows > min(sizes[:2]) or columns > min(sizes[1:]):
        return (
            f"{name}: {ranks} processes make a grid of {rows}x{columns}, and "
            f"{'x'.join(map(str, sizes))} points cannot be divided so"
        )
    return None


def _is_problem(name: str, class_: str, ranks: int, iterations: int) -> str | None:
    """Return why IS of this class cannot run; None if it can."""
    low, high = IS_PROCESSES.get(class_, IS_USUAL_PROCESSES)
    if not low <= ranks <= high:
        return f"{name} runs on {low} to {high} processes, {ranks} are not within this range"
    # iteration i sets the keys i and i + IS_SECOND_KEY of rank 0, which must have these numbers
    if iterations + IS_SECOND_KEY >= (1 << IS_KEYS_LOG2[class_]) // ranks:
        return (
            f"{name}: each iteration changes a key of rank 0, and on {ranks} processes that has "
            "too few"
        )
    return None

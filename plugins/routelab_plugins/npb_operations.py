"""Operation counts of the NAS Parallel Benchmarks, by their own definitions."""

from __future__ import annotations

from math import log

from routelab_plugins.npb_problems import CG, FT, IS_ITERATIONS, IS_KEYS_LOG2, LU, MG, NpbKernel

CG_STEPS = 25
"""Steps of conjugate gradients in each iteration of CG."""

FT_SETUP, FT_FIRST, FT_EVOLVE, FT_TRANSFORM = 14.8157, 7.19641, 5.23518, 7.21113
"""Operations for each point: initial values, multiplication by the evolution and the checksum; of
transforms, times the natural logarithm of all points."""


def lu_iteration(points: int) -> float:
    """Return the operations of one iteration, by the benchmark's polynomial."""
    return 1984.77 * points**3 - 10923.3 * points**2 + 27770.9 * points - 144010.0


def mg_iteration(points: int) -> float:
    """Return the operations of one iteration, by the points of the finest grid."""
    return 58.0 * float(points) ** 3


def cg_iteration(order: int, nonzeros: int) -> float:
    """Return the operations of one iteration on a single process."""
    fill = nonzeros * (nonzeros + 1)
    return 2.0 * order * (3 + fill + CG_STEPS * (5 + fill) + 3)


def ft_operations(points: float, iterations: int) -> float:
    """Return the operations of the timed part."""
    logarithm = log(points)
    per_point = FT_EVOLVE + FT_TRANSFORM * logarithm
    return points * (FT_SETUP + FT_FIRST * logarithm + iterations * per_point)


def operations(kernel: NpbKernel, class_: str) -> float:
    """Return the operations of the timed part of a class; for IS, the ranked keys."""
    if kernel == "is":
        return float(IS_ITERATIONS * 2 ** IS_KEYS_LOG2[class_])
    if kernel == "ft":
        (x, y, z), iterations = FT[class_]
        return ft_operations(float(x * y * z), iterations)
    if kernel == "cg":
        order, nonzeros, iterations = CG[class_]
        return iterations * cg_iteration(order, nonzeros)
    if kernel == "lu":
        points, iterations = LU[class_]
        return iterations * lu_iteration(points)
    points, iterations = MG[class_]
    return iterations * mg_iteration(points)

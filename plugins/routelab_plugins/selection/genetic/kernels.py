"""Fitness of chromosomes: loads of one chosen route a pair."""

import numpy as np

from routelab.kernels.jit import jit


@jit
def deviations(genes, routes, demand, factor, perfect, power):
    """Return the deviation of channel loads from the perfect load, to the power k, as a sum.

    Parameters
    ----------
    genes : int32 array, shape (N, G)
        A chromosome a row: for every gene (pair) the number of its route.
    routes : tuple of three arrays
        ``hop_start`` int64 (G,): where the hops of a gene's route 0 start; ``length`` int32 (G,);
        ``hops`` int32.
    demand : float64 array, shape (G,)
        Terminal pairs that a gene's route serves.
    factor : float64 array, shape (C,)
        Load of each channel relative to what crosses it.
    perfect : float
        Perfect channel load.
    power : float
        The k of σ(k).

    Returns
    -------
    totals : float64 array, shape (N,)
        Σ over channels of |perfect − load|^k.
    """
    hop_start, length, hops = routes
    totals = np.zeros(len(genes), np.float64)
    loads = np.empty(len(factor), np.float64)
    for n in range(len(genes)):
        loads[:] = 0.0
        for g in range(genes.shape[1]):
            start = hop_start[g] + genes[n, g] * length[g]
            for h in range(start, start + length[g]):
                loads[hops[h]] += demand[g]
        for c in range(len(factor)):
            totals[n] += abs(perfect - loads[c] * factor[c]) ** power
    return totals

"""A fast checksum of memory, which finds accidental changes; it is not a cryptographic digest."""

from __future__ import annotations

import numpy as np

from routelab.kernels.jit import jit


@jit
def checksum(words):
    """Return the checksum of 64-bit words.

    Four sums run side by side, so that the memory is the limit. Each step is a bijection (xor, and
    a product with an odd number), so a change of a single word always changes the result.

    Parameters
    ----------
    words : uint64 array, shape (N,)

    Returns
    -------
    sum : uint64
    """
    factor = np.uint64(0x9E3779B97F4A7C15)
    a, b, c, d = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    # Blocks of four words, and up to three words behind the last block.
    blocks_end = len(words) // 4 * 4
    for i in range(0, blocks_end, 4):
        a = (a ^ words[i]) * factor
        b = (b ^ words[i + 1]) * factor
        c = (c ^ words[i + 2]) * factor
        d = (d ^ words[i + 3]) * factor
    for i in range(blocks_end, len(words)):
        a = (a ^ words[i]) * factor
    # The sums are joined by the same step, because in a plain total the changes of two of them
    # could cancel, and exchanged sums would give the same result.
    return (((a * factor ^ b) * factor ^ c) * factor ^ d) * factor

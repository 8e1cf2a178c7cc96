"""Helpers of hot kernels: bits, indices, random words, memory prefetch."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from routelab.kernels.jit import inline

u = np.uint64
"""Type for indices: an unsigned index is never negative, so numba omits a check."""

_ONE, _SIX, _LOW = u(1), u(6), u(63)


@intrinsic
def prefetch(context, array, index):
    """Prefetch an element of a one-dimensional array into the cache.

    The packet engine goes over its queues in several rounds per simulated cycle. Each round
    prefetches what the next one reads, so that the waits for memory overlap.
    """

    def emit(code, builder, signature, values):
        """Emit LLVM's prefetch of an array's item."""
        array_type, _ = signature.args
        view = code.make_array(array_type)(code, builder, values[0])
        address = builder.gep(view.data, [values[1]])
        pointer = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch",
            [pointer],
            ir.FunctionType(ir.VoidType(), [pointer, number, number, number]),
        )
        # for a read (0), into all levels of the cache (3), as data (1)
        hints = [ir.Constant(number, value) for value in (0, 3, 1)]
        builder.call(function, [builder.bitcast(address, pointer), *hints])
        return code.get_dummy_value()

    return types.none(array, types.intp), emit


@inline
def mark(bits, row, item):
    """Set the bit of an item in a row of bits."""
    bits[u(row), u(item) >> _SIX] |= _ONE << (u(item) & _LOW)


@inline
def mark_if(condition, bits, row, item):
    """Set the bit of an item if a condition holds, without a branch that may be mispredicted.

    If it does not hold, `item` may be any number: no bit of the row changes.
    """
    safe_item = item if condition else 0
    bits[u(row), u(safe_item) >> _SIX] |= u(condition) << (u(safe_item) & _LOW)


@inline
def is_marked(bits, row, item):
    """Return whether the bit of an item is set."""
    return (bits[u(row), u(item) >> _SIX] >> (u(item) & _LOW)) & _ONE != np.uint64(0)


@inline
def lowest(bits):
    """Return the number of the lowest bit that is set."""
    return np.int64(trailing_zeros(bits))


@inline
def draw(states, row, column):
    """Draw the next 64-bit random word of the stream with the state ``states[row, column]``.

    The generator is SplitMix64, which defines all constants. Updates the state.
    """
    states[row, column] += np.uint64(0x9E3779B97F4A7C15)
    z = states[row, column]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))

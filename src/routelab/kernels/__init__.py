"""Compiled kernels: arrays in, arrays out.

Kernels import only numpy, numba and other kernels, and do no input or output. The classes in
`routelab.api` that own the arrays check them.
"""

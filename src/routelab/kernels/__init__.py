"""Compiled kernels: arrays in, arrays out.

Kernels import numpy, numba and other kernels, nothing else, and do no input or output. The
arrays they take are checked by the classes in `routelab.api` that own them.
"""

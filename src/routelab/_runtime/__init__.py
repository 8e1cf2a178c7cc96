"""What every process of routelab needs first: its platform, its sources, Numba, progress reports.

These modules are below all others of routelab.
"""

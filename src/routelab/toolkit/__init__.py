"""Helpers for authors of plugins: grids, orders, ties, choices, patterns, traces."""

from routelab._runtime.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)

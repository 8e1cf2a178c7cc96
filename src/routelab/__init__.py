"""routelab: experiments with routing algorithms for HPC interconnects."""

from __future__ import annotations

from routelab._numba_cache import set_cache_directory

__version__ = "0.1.0"

set_cache_directory()

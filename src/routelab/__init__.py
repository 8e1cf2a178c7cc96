"""routelab: experiments with routing algorithms for HPC interconnects.

In a notebook or a script, ``import routelab`` gives `evaluate`, `topology`, `route`, `prove`,
`simulate` and `plugins`. They are loaded when they are first used: importing the package itself
stays cheap, as every command and every job does it.
"""

from __future__ import annotations

from routelab._runtime.lazy_names import lazy_names
from routelab._runtime.numba_hook import compare_flags_fast, register_locator

__version__ = "0.1.0"

register_locator()
compare_flags_fast()

__getattr__, __dir__ = lazy_names(__name__)

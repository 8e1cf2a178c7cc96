"""Run engines: build their cases, call them, write their results; and the engines of routelab.

The registry finds the plugins of the engines by their entry points, like those of other
distributions. `case` and `run` import none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import ClosedLoop, OpenLoop

if TYPE_CHECKING:
    from routelab.routing.table_program import table_program
    from routelab.simulation.packet.engine import Simulation

__all__ = ["ClosedLoop", "OpenLoop", "Router", "Simulation", "table_program"]


def __getattr__(name: str) -> Any:
    """Load the engine on demand, so that settings do not import numba."""
    if name == "Simulation":
        from routelab.simulation.packet.engine import Simulation

        return Simulation
    if name == "table_program":
        from routelab.routing.table_program import table_program

        return table_program
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""CPU seconds by stage of a routing, taken at the functions that routings call.

The functions are replaced, where they are looked up, by ones that run a clock; what is measured is
the very code that users run. A function that another measured one calls counts for itself only.
"""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from routelab.api import RouteTable
from routelab.registry.instances import ComposedRouting

STAGES = {
    "routelab.toolkit.choices:source_symmetry": "symmetry",
    "routelab.toolkit.choices:list_routes": "listing of routes",
    "routelab.toolkit.choices:translate_routes": "translation",
    "routelab_plugins.selection.sssp:cut_groups": "translation",
    "routelab_plugins.selection.sssp:fill_groups": "translation",
    "routelab_plugins.selection.sssp:choose_routes_sssp": "selection: choice",
    "routelab_plugins.selection.balanced:balance": "selection: choice",
    "routelab_plugins.selection.balanced:even_out": "selection: evening out",
    "routelab.toolkit.choices:write_chosen_routes": "writing of the table",
    "routelab.routing.routing:determinized": "rules",
    "routelab.routing.routing:first_illegal_path": "legality",
    "routelab.routing.routing:source_symmetry": "legality",
    "routelab.routing.routing:count_routes_from": "legality",
    "routelab.routing.routing:first_longer_path": "legality",
    "routelab.routing.facts:channel_loads": "facts: channel loads",
    "routelab.routing.facts:route_diversity": "facts: route diversity",
    "routelab.routing.facts:takes_shortest": "facts: shortest routes",
    "routelab.routing.facts:mean_hops": "facts: lengths",
    "routelab.routing.facts:max_hops": "facts: lengths",
}
"""Stage of each function, by the module in which it is looked up."""


class StageClock:
    """Adds up CPU seconds by stage while it runs.

    Attributes
    ----------
    seconds : dict of str to float
        In the order in which stages ended for the first time.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = [0.0]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count what happens inside for a stage, but for what inner stages count."""
        begin = time.process_time()
        self._inner.append(0.0)
        try:
            yield
        finally:
            spent = time.process_time() - begin
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner.pop()
            self._inner[-1] += spent

    @contextmanager
    def running(self, routing: ComposedRouting) -> Iterator[None]:
        """Clocks at all functions of `STAGES`, and at the methods of a composition's parts."""
        with ExitStack() as stack:
            for place, name in STAGES.items():
                module, function = place.split(":")
                owner = importlib.import_module(module)
                self._clocked(stack, owner, function, name)
            self._clocked(stack, type(routing.rules), "routing_graph", "rules")
            self._clocked(stack, type(routing.selection), "select", "selection: rest")
            self._clocked(stack, type(routing.layers), "assign", "layers")
            self._clocked(stack, RouteTable, "create", "table checks")
            self._clocked(stack, RouteTable, "with_vcs", "table checks")
            yield

    def _clocked(self, stack: ExitStack, owner: Any, function: str, name: str) -> None:
        whole = vars(owner)[function]
        plain: Callable[..., Any] = whole.__func__ if isinstance(whole, classmethod) else whole

        @functools.wraps(plain)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self.stage(name):
                return plain(*args, **kwargs)

        new = classmethod(timed) if isinstance(whole, classmethod) else timed
        stack.enter_context(mock.patch.object(owner, function, new))

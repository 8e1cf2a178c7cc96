"""What is checked: a plugin instance, and what it does with each input."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from routelab.api import (
    BenchmarkPlugin,
    Capabilities,
    Composition,
    EnginePlugin,
    MetricContext,
    Topology,
    UnsupportedError,
)
from routelab.deadlock.hop_states import Exploration
from routelab.registry.catalogue import Catalogue
from routelab.registry.instances import Routing, load, load_routing
from routelab.simulation.flow.machine import Machine
from routelab.stages.chain import apply_routing
from routelab.testing.bounds import BoundsError, BoundsWalker
from routelab.testing.fingerprints import differences, field_digests
from routelab.testing.hop_by_hop import explore_states, least_channels, routing_part
from routelab.testing.inputs.engines import case_on, result_on, short_run
from routelab.testing.inputs.examples import complete_name
from routelab.testing.inputs.launches import launch
from routelab.testing.inputs.rehearsal import rehearse
from routelab.testing.inputs.tables import table_like
from routelab.testing.result_form import check_form
from routelab.testing.results import Failed, Skipped

T = TypeVar("T")
SEED = 7
"""Seed of the run that patterns of traffic are asked for."""
_NOT_THE_PLUGIN = tuple(
    str(Path(str(spec.origin)).parent)
    for spec in map(find_spec, ("routelab", "numpy", "numba"))
    if spec is not None
)


class Subject:
    """A plugin instance under test.

    Parameters
    ----------
    kind, text : str
        A kind and an instance name; parameters without a default get a stand-in.
    topologies : sequence of str
        Instances of topologies that are among the inputs.
    catalogue : Catalogue
    inputs : mapping
        Makers of the inputs, by name.
    avoid : mapping
        Inputs that the process did not survive, with what happened.

    Raises
    ------
    InputError, Skipped
        If there is no such instance, or it takes more to make one.
    """

    def __init__(
        self,
        kind: str,
        text: str,
        topologies: Sequence[str],
        catalogue: Catalogue,
        inputs: Mapping[str, Callable[[], Any]],
        avoid: Mapping[str, str],
    ) -> None:
        self.kind, self.written = kind, text
        self.topologies, self.catalogue = topologies, catalogue
        self.text = complete_name(kind, text, catalogue)
        self.plugin: Any = load_instance(kind, self.text, catalogue)
        self.trials = {
            name: Trial(self, name, make, avoid.get(name)) for name, make in inputs.items()
        }

    @cached_property
    def capabilities(self) -> Capabilities:
        """What the plugin claims; parts that are put together without a name claim nothing."""
        if not isinstance(self.plugin, Routing):
            return capabilities_of(self.plugin)
        whole = self.plugin.plugins[0]
        if self.plugin.complete or self.plugin.hops or isinstance(whole, Composition):
            return capabilities_of(whole)
        return Capabilities(
            deterministic=all(part.capabilities.deterministic for part in self.plugin.plugins),
            multipath=capabilities_of(self.plugin.selection).multipath,
            virtual_channels=None,
        )

    def example(self) -> Trial:
        """The last, which is the richest, input that the plugin made something of.

        Raises
        ------
        Skipped
            If there is none.
        """
        for trial in reversed(self.trials.values()):
            if trial.has_result():
                return trial
        raise Skipped("no input led to a result")


class Trial:
    """One input, and what the plugin makes of it; everything is done once, when it is asked for."""

    def __init__(
        self, subject: Subject, name: str, make: Callable[[], Any], ended: str | None
    ) -> None:
        self.subject, self.name = subject, name
        self._make, self._ended = make, ended

    @cached_property
    def value(self) -> Any:
        """The input."""
        if self._ended:
            raise Skipped(f"not tried again: {self._ended}")
        try:
            return self._make()
        except (Failed, Skipped) as reason:
            raise Skipped(f"the input cannot be made: {reason}") from None
        except Exception as error:
            raise Skipped(f"the input cannot be made: {error_text(error)}") from None

    @cached_property
    def refusal(self) -> str | None:
        """What ``supports()`` says.

        Raises
        ------
        Failed
            If it raises, or answers anything but a reason or None.
        """
        return self.ask()

    def ask(self) -> str | None:
        """Ask ``supports()``, again if it was asked before; raises as `refusal`."""
        value = self.value
        answer = call_plugin("supports()", lambda: support_answer(self.subject.plugin, value))
        if answer is None or (isinstance(answer, str) and answer.strip()):
            return answer
        raise Failed(f"supports() must answer None or a reason in words, it answered {answer!r}")

    def require_support(self) -> None:
        """Raise Skipped unless the plugin supports the input."""
        try:
            reason = self.refusal
        except Failed:
            raise Skipped("supports() failed") from None
        if reason is not None:
            raise Skipped(f"not supported: {reason}")

    @cached_property
    def _outcome(self) -> Any:
        before = field_digests(self.value)
        try:
            self.require_support()
            result = run_plugin(self.subject.plugin, self.value)
            check_form(self.subject.kind, self.value, result)
        except (Failed, Skipped) as problem:
            result = problem
        return result, differences(before, field_digests(self.value))

    @property
    def changes(self) -> list[str]:
        """Fields of the input that differ since the plugin worked on it."""
        self.require_support()
        changed: list[str] = self._outcome[1]
        return changed

    def first_result(self) -> Any:
        """What the plugin made of the input.

        Raises
        ------
        Failed, Skipped
            If it crashed or broke its contract; if it does not support the input.
        """
        result = self._outcome[0]
        if isinstance(result, (Failed, Skipped)):
            raise result
        return result

    @property
    def result(self) -> Any:
        """The same for checks that need a result: without one they do not apply."""
        try:
            return self.first_result()
        except Failed:
            raise Skipped("there is no result, see the check 'result'") from None

    @cached_property
    def hop_calls(self) -> int:
        """Calls of hop in which every index was checked; the result is a program.

        Raises
        ------
        Failed
            If an index does not exist.
        Skipped
            If there is no result, or its functions cannot run as plain Python.
        """
        walker = BoundsWalker(self.result, self.value)
        try:
            return walker.explore()
        except BoundsError as error:
            raise Failed(str(error)) from None
        except Exception as error:
            raise Skipped(
                f"the functions do not run as plain Python: {error_text(error)}"
            ) from None

    @cached_property
    def exploration(self) -> Exploration:
        """All that packets of the result, a program, come to.

        Raises
        ------
        Skipped
            If there is no result, the network is too large, or functions use indices that do not
            exist: compiled, they would read or write anything.
        """
        try:
            _ = self.hop_calls
        except Failed:
            raise Skipped("functions use wrong indices, see the check 'bounds'") from None
        except Skipped:
            # without a result there is nothing to explore, without plain Python there is
            _ = self.result
        count, _ = least_channels(routing_part(self.subject.plugin), self.value)
        return explore_states(self.result, self.value, count)

    def has_result(self) -> bool:
        """Whether there is a result."""
        try:
            self.first_result()
        except (Failed, Skipped):
            return False
        return True


def load_instance(kind: str, text: str, catalogue: Catalogue) -> Any:
    """The plugin, or the Routing, that a name stands for."""
    if kind == "routing":
        return load_routing(text, catalogue)
    return load(kind, text, catalogue)


def capabilities_of(plugin: Any) -> Capabilities:
    """What a plugin claims."""
    claims: Capabilities = plugin.capabilities
    return claims


def support_answer(plugin: Any, value: Any) -> Any:
    """What the plugin's ``supports()`` says about an input; None where its kind has none."""
    if isinstance(plugin, Routing) and plugin.hops is not None:
        return least_channels(routing_part(plugin), value)[1]
    if isinstance(plugin, Routing):
        # the first part that looks at the network; the others see what it makes
        plugin = plugin.complete or plugin.rules
    if isinstance(plugin, EnginePlugin):
        return short_run(plugin).supports(case_on(plugin, value))
    if isinstance(plugin, BenchmarkPlugin):
        return plugin.supports(value.ranks, value.ranks_per_node)
    return plugin.supports(value) if hasattr(plugin, "supports") else None


def run_plugin(plugin: Any, value: Any) -> Any:
    """What the plugin makes of an input.

    Raises
    ------
    Skipped
        If it raised UnsupportedError.
    Failed
        If it raised anything else.
    """
    if isinstance(plugin, Routing) and plugin.hops is not None:
        routing = routing_part(plugin)
        count, _ = least_channels(routing, value)
        return call_plugin("prepare()", lambda: routing.prepare(value, count))
    if isinstance(plugin, Routing):
        return call_plugin("routing", lambda: apply_routing(value, plugin).table)
    method, call = {
        "topology": ("build()", lambda: plugin.build()),
        "rules": ("routing_graph()", lambda: plugin.routing_graph(value)),
        "selection": ("select()", lambda: plugin.select(value)),
        "layers": ("assign()", lambda: plugin.assign(value)),
        "metric": (
            "measure_in()",
            lambda: plugin.measure_in(
                MetricContext(value[0], value[1], partial(table_like, value[0]))
            ),
        ),
        "traffic": ("demand()", lambda: demand_and_messages(plugin, value, SEED)),
        "workload": ("program()", lambda: plugin.program(value)),
        "engine": ("run()", lambda: result_on(plugin, value)),
        "export": ("export()", lambda: plugin.export(value, Machine())),
        "benchmark": ("the command", lambda: launch(plugin, value)),
        "fabric": ("apply() or restore()", lambda: rehearse(plugin, value)),
    }[plugin.kind]
    return call_plugin(method, call)


def demand_and_messages(plugin: Any, topology: Topology, seed: int) -> tuple[Any, Any]:
    """Demand and messages of a traffic plugin; raises as `run_plugin`."""
    demand = call_plugin("demand()", lambda: plugin.demand(topology, seed))
    return demand, call_plugin("messages()", lambda: plugin.messages(topology, seed))


def call_plugin(what: str, call: Callable[[], T]) -> T:
    """Call the plugin's code; see `run_plugin` for what becomes of its errors."""
    try:
        return call()
    except (Failed, Skipped):
        raise
    except UnsupportedError as error:
        if what == "supports()":
            raise Failed(f"supports() raised UnsupportedError({error}); return the text") from None
        raise Skipped(f"not supported: {error}") from None
    except (Exception, SystemExit) as error:
        raise Failed(f"{what} {_advice(error)}{error_text(error)}") from None


def _advice(error: BaseException) -> str:
    text = str(error)
    if "read-only" in text or "readonly" in text:
        return "tried to write into its input, which is read-only; change a copy instead: "
    return "raised "


def error_text(error: BaseException) -> str:
    """An error and the innermost place outside of routelab and the libraries that work for it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(_NOT_THE_PLUGIN)]
    place = f" ({own[-1].filename}, line {own[-1].lineno}, in {own[-1].name})" if own else ""
    words = str(error).strip()
    return f"{type(error).__name__}: {words}{place}" if words else f"{type(error).__name__}{place}"

"""Subjects of checks: a plugin instance, and its results for each input."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from routelab.api import (
    Capabilities,
    MetricContext,
    RouteTable,
    RoutingGraph,
    Topology,
    UnsupportedError,
)
from routelab.deadlock.reachable_states import ReachableStates
from routelab.registry.catalogue import Catalogue
from routelab.registry.instances import (
    ComposedRouting,
    HopRouting,
    RoutingPlugins,
    load,
    load_routing,
)
from routelab.routing.routing import Routing
from routelab.testing.bounds import BoundsError, BoundsWalker
from routelab.testing.fingerprints import differences, field_digests
from routelab.testing.hop_by_hop import explore_or_skip, least_channels
from routelab.testing.inputs.examples import complete_name
from routelab.testing.inputs.tables import table_like
from routelab.testing.result_form import check_form
from routelab.testing.results import Failed, Skipped

T = TypeVar("T")
SEED = 7
"""Seed for patterns of traffic."""
_LIBRARY_FOLDERS = tuple(
    str(Path(str(spec.origin)).parent)
    for spec in map(find_spec, ("routelab", "numpy", "numba"))
    if spec is not None
)


class Subject:
    """A plugin instance under test, with a trial for each input.

    Parameters
    ----------
    kind, text : str
        A kind and an instance name; parameters without a default get an example value.
    topologies : sequence of str
        Instances of topologies that the user added to the inputs.
    catalogue : Catalogue
    inputs : mapping
        Functions that make the inputs, by name.
    avoid : mapping
        Names of inputs on which the plugin has ended its process, with the reason. They are not
        tried again.

    Attributes
    ----------
    given_text : str
        The instance name as the user wrote it.
    text : str
        The same with a value for every required parameter.
    plugin : object
        The plugin instance; of a routing, `routelab.registry.instances.RoutingPlugins`.
    trials : dict
        A `Trial` for each input, by its name.

    Raises
    ------
    InputError, Skipped
        If the instance does not exist, or needs parameters that cannot be guessed.
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
        self.kind, self.given_text = kind, text
        self.topologies, self.catalogue = topologies, catalogue
        self.text = complete_name(kind, text, catalogue)
        self.plugin: Any = load_instance(kind, self.text, catalogue)
        self.trials = {
            name: Trial(self, name, make, avoid.get(name)) for name, make in inputs.items()
        }

    @cached_property
    def capabilities(self) -> Capabilities:
        """Claims of the plugin, which the checks hold it to."""
        if not isinstance(self.plugin, RoutingPlugins):
            return capabilities_of(self.plugin)
        # An algorithm, or a composition with a name of its own, makes the claims itself. It is the
        # first of `plugins`, before its parts.
        if not isinstance(self.plugin, ComposedRouting) or self.plugin.composition is not None:
            return capabilities_of(self.plugin.plugins[0])
        # Nobody makes claims for a composition that a user writes, such as `sssp@up-down`. What
        # its parts claim decides two of them, and all others have their defaults. By default, a
        # plugin needs one virtual channel: that is not claimed here.
        return Capabilities(
            deterministic=all(part.capabilities.deterministic for part in self.plugin.plugins),
            multipath=capabilities_of(self.plugin.selection).multipath,
            virtual_channels=None,
        )

    def example(self) -> Trial:
        """Return the last (richest) input with a result.

        Raises
        ------
        Skipped
            If no input has a result.
        """
        for trial in reversed(self.trials.values()):
            if trial.has_result():
                return trial
        raise Skipped("no input led to a result")


class Trial:
    """One input and the plugin's result; everything is computed once, on demand.

    Parameters
    ----------
    subject : Subject
    name : str
        Name of the input.
    make : callable
        Makes the input.
    avoid_reason : str or None
        Why the input must not be made, because it has ended a process; None: it may be made.
    """

    def __init__(
        self, subject: Subject, name: str, make: Callable[[], Any], avoid_reason: str | None
    ) -> None:
        self.subject, self.name = subject, name
        self._make, self._avoid_reason = make, avoid_reason

    @cached_property
    def value(self) -> Any:
        """The input."""
        if self._avoid_reason:
            raise Skipped(f"not tried again: {self._avoid_reason}")
        try:
            return self._make()
        except (Failed, Skipped) as reason:
            raise Skipped(f"the input cannot be made: {reason}") from None
        except Exception as error:
            raise Skipped(f"the input cannot be made: {error_text(error)}") from None

    @cached_property
    def refusal(self) -> str | None:
        """Why the plugin does not support the input; None if it does.

        Raises
        ------
        Failed
            If ``supports()`` raises, or returns anything but a reason or None.
        """
        return self.call_supports()

    def call_supports(self) -> str | None:
        """Call ``supports()`` anew; `refusal` has the answer of the first call.

        Answers and errors are those of `refusal`.
        """
        value = self.value
        answer = call_plugin("supports()", lambda: call_supports_of(self.subject.plugin, value))
        if answer is None or (isinstance(answer, str) and answer.strip()):
            return answer
        raise Failed(f"supports() must return None or a reason in words, but returned {answer!r}")

    def require_support(self) -> None:
        """Raise Skipped unless the plugin supports the input."""
        try:
            reason = self.refusal
        except Failed:
            raise Skipped("supports() failed") from None
        if reason is not None:
            raise Skipped(f"not supported: {reason}")

    @cached_property
    def _outcome_and_changes(self) -> tuple[Any, list[str]]:
        """The outcome of a run, and the fields of the input that the plugin changed.

        The outcome is the result, or the exception that says why there is none.
        """
        before = field_digests(self.value)
        try:
            self.require_support()
            outcome = run_plugin(self.subject.plugin, self.value)
            check_form(self.subject.kind, self.value, outcome)
        except (Failed, Skipped) as problem:
            outcome = problem
        return outcome, differences(before, field_digests(self.value))

    @property
    def changes(self) -> list[str]:
        """Return the fields of the input that the plugin changed."""
        self.require_support()
        _, changed_fields = self._outcome_and_changes
        return changed_fields

    def require_result(self) -> Any:
        """Return the plugin's result for the input, or raise why there is none.

        Raises
        ------
        Failed
            If the plugin crashed or broke its contract.
        Skipped
            If the input cannot be made, or the plugin does not support it.
        """
        outcome, _ = self._outcome_and_changes
        if isinstance(outcome, (Failed, Skipped)):
            raise outcome
        return outcome

    @property
    def result(self) -> Any:
        """The plugin's result. Without one, raises Skipped: the check 'result' reports failures."""
        try:
            return self.require_result()
        except Failed:
            raise Skipped("there is no result, see the check 'result'") from None

    @cached_property
    def hop_calls(self) -> int:
        """Number of calls of hop in walks with all indices checked, if the result is a program.

        Raises
        ------
        Failed
            If a function of the program uses an index that does not exist.
        Skipped
            Without a result, or if its functions cannot run as plain Python.
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
    def exploration(self) -> ReachableStates:
        """All states that packets of the result, a program, can reach.

        Raises
        ------
        Skipped
            Without a result, if there are too many states, or if functions use invalid indices,
            with which compiled code would access other memory.
        """
        try:
            _ = self.hop_calls
        except Failed:
            raise Skipped("functions use wrong indices, see the check 'bounds'") from None
        except Skipped:
            # without a result there is nothing to explore; without plain Python there still is
            _ = self.result
        # The result was prepared for the least number of virtual channels.
        routing = Routing(self.subject.plugin)
        num_vcs, _ = least_channels(routing, self.value)
        # Duato's proof is about the dependencies between escape channels.
        has_escapes = routing.proof == "duato"
        return explore_or_skip(self.result, self.value, num_vcs, escapes=has_escapes)

    def has_result(self) -> bool:
        """Whether there is a result."""
        try:
            self.require_result()
        except (Failed, Skipped):
            return False
        return True


def load_instance(kind: str, text: str, catalogue: Catalogue) -> Any:
    """Load the plugin, or the plugins of the routing, of an instance name."""
    if kind == "routing":
        return load_routing(text, catalogue)
    return load(kind, text, catalogue)


def capabilities_of(plugin: Any) -> Capabilities:
    """Return the claims of a plugin."""
    claims: Capabilities = plugin.capabilities
    return claims


def call_supports_of(plugin: Any, value: Any) -> Any:
    """Return the answer of ``supports()`` for an input; None if its kind has no such method."""
    # A hop-by-hop routing answers for a number of virtual channels: any of those that we try.
    if isinstance(plugin, HopRouting):
        _, answer = least_channels(Routing(plugin), value)
        return answer
    # Of a composition, the rules get the network; the other parts get the result of one before.
    if isinstance(plugin, RoutingPlugins):
        plugin = plugin.rules if isinstance(plugin, ComposedRouting) else plugin.plugin
    return plugin.supports(value) if hasattr(plugin, "supports") else None


def run_plugin(plugin: Any, value: Any) -> Any:
    """Run the plugin on an input and return its result.

    Raises
    ------
    Skipped
        If it raised UnsupportedError.
    Failed
        If it raised anything else.
    """
    # 1. Routings: a hop-by-hop routing prepares a program, any other makes a route table.
    if isinstance(plugin, HopRouting):
        routing = Routing(plugin)
        num_vcs, _ = least_channels(routing, value)
        return call_plugin("prepare()", lambda: routing.prepare(value, num_vcs), _ADVICE_TO_REFUSE)
    if isinstance(plugin, RoutingPlugins):
        return call_plugin("routing", lambda: Routing(plugin).table(value), _ADVICE_TO_REFUSE)
    # 2. Each other kind of plugin: the method for messages, and the call. A topology has no input.
    method, call = {
        "topology": ("build()", lambda: plugin.build()),
        "rules": ("routing_graph()", lambda: plugin.routing_graph(value)),
        "selection": ("select()", lambda: plugin.select(value)),
        "layers": ("assign()", lambda: plugin.assign(value)),
        "metric": ("measure_in()", lambda: plugin.measure_in(_metric_context(*value))),
        "traffic": ("demand()", lambda: demand_and_messages(plugin, value, SEED)),
        "workload": ("program()", lambda: plugin.program(value)),
    }[plugin.kind]
    if plugin.kind == "topology":
        advice = "raise InputError for parameters that do not fit each other"
    else:
        advice = _ADVICE_TO_REFUSE if hasattr(plugin, "supports") else ""
    return call_plugin(method, call, advice)


def _metric_context(table: RouteTable, graph: RoutingGraph | None) -> MetricContext:
    """Return the input of a metric. On another network, it gets a table with such routes."""
    return MetricContext(table=table, graph=graph, reroute=partial(table_like, table))


def demand_and_messages(plugin: Any, topology: Topology, seed: int) -> tuple[Any, Any]:
    """Return demand and messages of a traffic plugin; raises as `run_plugin`."""
    demand = call_plugin("demand()", lambda: plugin.demand(topology, seed), _ADVICE_TO_REFUSE)
    return demand, call_plugin(
        "messages()", lambda: plugin.messages(topology, seed), _ADVICE_TO_REFUSE
    )


_ADVICE_TO_REFUSE = "if it cannot work on this input, return the reason from supports()"


def call_plugin(method: str, call: Callable[[], T], advice: str = "") -> T:
    """Call the plugin's code, and convert its exceptions to outcomes of a check.

    Parameters
    ----------
    method : str
        Method of the plugin, such as ``select()``, for messages.
    call : callable
        Calls the method.
    advice : str
        End of the message about an exception.

    Raises
    ------
    Skipped
        If it raised UnsupportedError, which ``supports()`` itself must not.
    Failed
        If it raised anything else.
    """
    try:
        return call()
    except (Failed, Skipped):
        raise
    except UnsupportedError as error:
        if method == "supports()":
            raise Failed(f"supports() raised UnsupportedError({error}); return the text") from None
        raise Skipped(f"not supported: {error}") from None
    except (Exception, SystemExit) as error:
        # NumPy's words are "read-only", Numba's "readonly".
        text = str(error)
        if "read-only" in text or "readonly" in text:
            did, advice = "tried to write into its input, which is read-only", "change a copy"
            raise Failed(f"{method} {did}: {error_text(error)}; {advice}") from None
        end = f"; {advice}" if advice else ""
        raise Failed(f"{method} raised {error_text(error)}{end}") from None


def error_text(error: BaseException) -> str:
    """Return an error with the innermost line outside of routelab, NumPy and Numba, if any.

    That is the line of the plugin: ``ValueError: too large (plugin.py, line 7, in select)``.
    """
    frames = traceback.extract_tb(error.__traceback__)
    plugin_frames = [frame for frame in frames if not frame.filename.startswith(_LIBRARY_FOLDERS)]
    location = ""
    if plugin_frames:
        innermost = plugin_frames[-1]
        location = f" ({innermost.filename}, line {innermost.lineno}, in {innermost.name})"
    text = str(error).strip()
    message = f": {text}" if text else ""
    return f"{type(error).__name__}{message}{location}"

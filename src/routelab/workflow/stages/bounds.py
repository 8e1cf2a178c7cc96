"""Bounds: lower bounds of the maximum load of a network under some rules."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab._runtime.progress import report_phase
from routelab.api import RulesPlugin, Topology
from routelab.jobs.folder_job import Computation, Result, Task
from routelab.jobs.job import MAX_ID, Compilation
from routelab.metrics.bounds import bound_numbers
from routelab.registry.instances import load, name_of
from routelab.registry.requirements import collect_errors
from routelab.results.fingerprint import job_fingerprint
from routelab.results.provenance import seed_of
from routelab.routing.bound import ANY, BARE, bound_load, write_bound
from routelab.routing.facts import topology_facts
from routelab.study import Bound
from routelab.toolkit import build_grid
from routelab.workflow.parts.instances import Instance
from routelab.workflow.stages.topologies import NetworkJob, network_jobs

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts


ALL_ROUTES = {BARE: "all minimal routes", ANY: "routes of any length"}
"""Bounds without rules, by the name that takes the place of rules."""

MARGIN = 60.0
"""CPU-seconds of a job beyond twice the time of its search, for example to read the network."""


@dataclass(frozen=True, kw_only=True)
class BoundJob(NetworkJob):
    """Bound the maximum load of a network under some rules, or for `ALL_ROUTES`.

    Attributes
    ----------
    seconds : float
        Time limit of the search. `limits` are only for safety.
    exact : bool
        Whether to search for the exact bound by a mixed-integer program, if there are few routes.
    """

    kind = "bounds"
    outcome_kind = "bound"
    nouns = "bound", "bounds"
    order = 2

    seconds: float = 60.0
    exact: bool = False

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the bounds of a study: every network without rules, and with all rules."""
        # 1. The limits of a job are for safety, so they exceed the time of its search.
        bound = parts.study.bound
        if not bound:
            return
        if not isinstance(bound, Bound):
            bound = Bound()
        study_limits = parts.study.limits
        search_limits = study_limits.model_copy(update={"seconds": 2 * bound.seconds + MARGIN})
        # 2. The rules of all tables by id. `BARE` and `ANY` have None: bounds without rules.
        rules = dict.fromkeys(ALL_ROUTES) | dict(map(_rules_of, parts.tables.values()))
        digests = {rules_id: _digest(plugin) for rules_id, plugin in rules.items()}
        # 3. One job for each network and rules, because routings with the same rules share a bound.
        any_length = [ANY] if bounds_any_length(parts) else []
        networks_and_rules = dict.fromkeys(
            (topology_id, rules_id)
            for (topology_id, _), id_of_table in rules_ids(parts).items()
            for rules_id in (BARE, id_of_table, *any_length)
        )
        for topology_id, rules_id in networks_and_rules:
            plugin = rules[rules_id]
            yield cls(
                folder=cls.folder_of(parts.results, (topology_id, rules_id)),
                ids=(topology_id, rules_id),
                text=rules_id if plugin is None else name_of(plugin),
                digest=digests[rules_id],
                inputs=() if plugin is None else tuple(map(str, plugin.input_files())),
                limits=study_limits.with_most_of(search_limits),
                seconds=bound.seconds,
                exact=bound.exact,
                **cls.network_fields(network_jobs(parts)[topology_id]),
            )

    @property
    @override
    def title(self) -> str:
        rules = ALL_ROUTES.get(self.text, self.text)
        return f"{rules} on {self.ids[0] if self.ids else self.topology}"

    @override
    def content(self) -> tuple[str, ...]:
        """Add the time of the search, which the result depends on."""
        return (*super().content(), str(float(self.seconds)), str(self.exact))

    @override
    def compilations(self) -> Sequence[Compilation]:
        """Return the compilation that bounds a tiny network without rules.

        Each job loads the kernels of its own rules.
        """

        def compile_kernels() -> None:
            bound_load(build_grid("torus", (3, 2), wrap=True), None)

        return (Compilation(("bounds",), "bounds", compile_kernels),)

    @override
    def load(self) -> tuple[Task, Computation]:
        """Look up rules and network; return what the outcome says of them, and `run` with them."""
        rules, (name, network) = collect_errors(
            lambda: None if self.text in ALL_ROUTES else load("rules", self.text),
            self.look_up_network,
        )
        plugins = () if rules is None else (rules,)
        rules_name = self.text if rules is None else name_of(rules)
        task = Task(topology=name, routing=rules_name, plugins=plugins, seed=seed_of(plugins))
        return task, partial(self.run, rules_name, rules, network)

    def run(
        self,
        rules_name: str,
        rules: RulesPlugin | None,
        network: Topology | None,
        facts: dict[str, Any],
    ) -> Result:
        """Bound the maximum load; the facts of the network are added to `facts`."""
        network = self.require_network(network, facts)
        report_phase(rules_name, "bound")
        bound = bound_load(
            network,
            rules,
            seconds=self.seconds,
            exact=self.exact,
            any_length=self.text == ANY,
        )
        report_phase(rules_name, "ok", ended=True)
        return Result(
            topology_facts(network) | bound_numbers(bound),
            lambda folder, _: write_bound(bound, network, folder),
        )


def bounds_any_length(parts: Parts) -> bool:
    """Return whether a study asks for bounds for routes of any length."""
    bound = parts.study.bound
    return isinstance(bound, Bound) and bound.any_length and not parts.study.survey


def rules_ids(parts: Parts) -> dict[tuple[str, str], str]:
    """Return the id of the rules of every table, by ids of topology and routing.

    Tables without rules have the id `BARE`. The mapping is empty for a study without bounds, and
    for a survey, whose rows have the bounds.
    """
    if not parts.study.bound or parts.study.survey:
        return {}
    ids = {routing_id: _rules_of(routing)[0] for routing_id, routing in parts.tables.items()}
    return {(topology_id, routing_id): ids[routing_id] for topology_id, routing_id in parts.runs}


def _rules_of(routing: Instance) -> tuple[str, RulesPlugin | None]:
    """Return the id and plugin of a routing's rules; `BARE` and None if it has none.

    The id is the canonical name, or the key and a hash if that cannot name a folder.
    """
    rules = next((plugin for plugin in routing.plugins if isinstance(plugin, RulesPlugin)), None)
    if rules is None:
        return BARE, None
    text = name_of(rules)
    if "/" not in text and len(text) <= MAX_ID:
        return text, rules
    return f"{rules.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}", rules


def _digest(rules: RulesPlugin | None) -> str:
    if rules is None:
        return job_fingerprint(BARE)
    return job_fingerprint(name_of(rules), [type(rules)], map(str, rules.input_files()))

"""From a survey to its shards."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routelab.api import RulesPlugin
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Bound, Limits, Study, Survey
from routelab.registry.instances import load_routing, name_of
from routelab.stages.instances import Instance
from routelab.stages.shards import Item, Shard

RUNS, BOUNDS = "routelab.stages.survey_runs", "routelab.stages.survey_bounds"
"""Stages: what rows depend on."""


@dataclass(frozen=True)
class SurveyPlan:
    """A survey's shards.

    Attributes
    ----------
    shards : tuple of Shard
    topologies, routings : mapping of str to Instance
        By id.
    rows : mapping of (str, str) to Item
        The item of a run, by the ids of topology and routing.
    """

    shards: tuple[Shard, ...]
    topologies: Mapping[str, Instance]
    routings: Mapping[str, Instance]
    rows: Mapping[tuple[str, str], Item]

    def table(self, results: Path, shard: Shard) -> Path:
        """The file that a shard leaves when all its runs have a row."""
        return results / "surveys" / f"{shard.id}.csv"

    def tables(self, results: Path) -> list[Path]:
        """The files of all shards."""
        return [self.table(results, shard) for shard in self.shards]


def plan_survey(
    study: Study,
    topologies: Mapping[str, Instance],
    routings: Mapping[str, Instance],
    metrics: Mapping[str, Instance],
    runs: Sequence[tuple[str, str]],
) -> SurveyPlan:
    """Cut a survey's runs into shards.

    Networks are dealt out to the shards in turn, so that none gets all the large ones.

    Parameters
    ----------
    study : Study
        With ``survey``.
    topologies, routings : mapping of str to Instance
        By id.
    metrics : mapping of str to Instance
        By canonical name.
    runs : sequence of (str, str)
        Ids of topology and routing.
    """
    plan = _Items(topologies, routings, metrics)
    bound = Bound() if study.bound is True else study.bound
    by_network: dict[str, list[Item]] = {}
    rows = {}
    for t, r in runs:
        rows[t, r] = item = plan.run(t, r)
        by_network.setdefault(t, []).append(item)
    if bound:
        for t, items in by_network.items():
            rules = dict.fromkeys(["", *(item.rules for item in items)])
            items[:0] = [plan.bound(t, name, bound.exact) for name in rules]
    most = study.survey.runs if isinstance(study.survey, Survey) else Survey().runs
    count = min(len(by_network), -(-len(runs) // most))
    groups = list(by_network.values())
    limits: Limits = study.limits
    inputs = {
        name
        for instances in (topologies, routings, metrics)
        for instance in instances.values()
        for name in instance.inputs
    }
    shards = tuple(
        Shard(
            id=f"{study.name}-{number + 1}",
            items=tuple(item for group in groups[number::count] for item in group),
            seconds=limits.seconds,
            memory_gb=limits.memory_gb,
            metrics=tuple(metrics),
            inputs=tuple(sorted(inputs)),
            bound_seconds=bound.seconds if bound else Bound().seconds,
            bound_exact=bound.exact if bound else False,
        )
        for number in range(count)
    )
    return SurveyPlan(shards, topologies, routings, rows)


class _Items:
    """Items of a survey; what they have in common is hashed once."""

    def __init__(
        self,
        topologies: Mapping[str, Instance],
        routings: Mapping[str, Instance],
        metrics: Mapping[str, Instance],
    ) -> None:
        self._topologies, self._routings = topologies, routings
        self._networks = {id_: _network(instance) for id_, instance in topologies.items()}
        measured = [type(plugin) for one in metrics.values() for plugin in one.plugins]
        read = [name for one in metrics.values() for name in one.inputs]
        self._parts = {
            id_: fingerprint(
                RUNS,
                " ".join([instance.text + instance.quarantine, *metrics]),
                [*map(type, instance.plugins), *measured],
                [*instance.inputs, *read],
            )
            for id_, instance in routings.items()
        }
        rules = {id_: _rules(instance) for id_, instance in routings.items()}
        self._rules = {id_: "" if one is None else name_of(one) for id_, one in rules.items()}
        self._bounds = {"": fingerprint(BOUNDS, "")} | {
            name_of(one): fingerprint(
                BOUNDS, name_of(one), [type(one)], map(str, one.input_files())
            )
            for one in rules.values()
            if one is not None
        }

    def run(self, topology: str, routing: str) -> Item:
        """The run of a routing on a network."""
        return Item(
            _both(self._networks[topology], self._parts[routing]),
            self._topologies[topology].text,
            self._routings[routing].text,
            self._rules[routing],
        )

    def bound(self, topology: str, rules: str, exact: bool) -> Item:
        """The bound of a network under some rules."""
        part = self._bounds[rules] + (" exact" if exact and rules else "")
        text = self._topologies[topology].text
        return Item(_both(self._networks[topology], part), text, rules=rules)


def _network(instance: Instance) -> str:
    return fingerprint(
        "routelab.stages.topology",
        instance.text + instance.quarantine,
        map(type, instance.plugins),
        instance.inputs,
    )


def _both(network: str, part: str) -> str:
    return hashlib.sha256(f"{network} {part}".encode()).hexdigest()


def _rules(instance: Instance) -> RulesPlugin | None:
    return None if instance.quarantine else load_routing(instance.text).rules

"""From studies to the bounds that they ask for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from routelab.api import RulesPlugin
from routelab.artifacts.fingerprint import fingerprint
from routelab.config import Bound, Limits, Study
from routelab.registry.instances import name_of
from routelab.stages.instances import Instance
from routelab.stages.jobs import BARE, MAX_ID, BoundJob, TopologyJob

MARGIN = 60.0
"""Seconds that a job has, beyond twice its search's, for reading the network and the like."""


@dataclass
class _Wanted:
    """A bound that studies ask for."""

    rules: RulesPlugin | None
    inputs: tuple[str, ...]
    limits: Limits
    bound: Bound


class WantedBounds:
    """Bounds, collected study by study."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[str, str], _Wanted] = {}

    def add(
        self,
        study: Study,
        runs: list[tuple[str, str]],
        routings: Mapping[str, Instance],
    ) -> dict[tuple[str, str], str]:
        """Note the bounds of a study's runs.

        Parameters
        ----------
        study : Study
        runs : list of (str, str)
            Ids of topology and routing.
        routings : mapping of str to Instance
            By id.

        Returns
        -------
        rules_of : dict
            For every run the id of its rules, `BARE` for a complete algorithm; empty for a study
            that asks for no bounds.
        """
        if not study.bound:
            return {}
        bound = study.bound if isinstance(study.bound, Bound) else Bound()
        rules_of = {}
        for topology, routing in runs:
            self._want((topology, BARE), None, study.limits, bound)
            rules = _rules(routings[routing])
            id_ = BARE if rules is None else _id(rules)
            self._want((topology, id_), rules, study.limits, bound)
            rules_of[topology, routing] = id_
        return rules_of

    def _want(
        self, key: tuple[str, str], rules: RulesPlugin | None, limits: Limits, bound: Bound
    ) -> None:
        inputs = () if rules is None else tuple(map(str, rules.input_files()))
        wanted = self._wanted.setdefault(key, _Wanted(rules, inputs, limits, bound))
        wanted.bound = Bound(
            seconds=max(wanted.bound.seconds, bound.seconds),
            exact=wanted.bound.exact or bound.exact,
        )
        search = Limits(seconds=2 * bound.seconds + MARGIN, memory_gb=limits.memory_gb)
        wanted.limits = wanted.limits.with_most_of(limits).with_most_of(search)

    def jobs(self, topologies: Mapping[str, TopologyJob]) -> dict[tuple[str, str], BoundJob]:
        """The jobs, by ids of topology and rules."""
        return {
            (topology, id_): _job(topologies[topology], id_, wanted)
            for (topology, id_), wanted in self._wanted.items()
        }


def _rules(routing: Instance) -> RulesPlugin | None:
    return next((one for one in routing.plugins if isinstance(one, RulesPlugin)), None)


def _id(rules: RulesPlugin) -> str:
    """The rules' name where it can name a directory: rules have no alias in a study."""
    text = name_of(rules)
    if "/" not in text and len(text) <= MAX_ID:
        return text
    return f"{rules.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _job(topology: TopologyJob, id_: str, wanted: _Wanted) -> BoundJob:
    rules, bound = wanted.rules, wanted.bound
    text = BARE if rules is None else name_of(rules)
    # the network's fingerprint stands for its code, too; what a search may spend decides what
    # it finds
    parts = [topology.text, topology.fingerprint, text, str(bound.seconds), str(bound.exact)]
    return BoundJob(
        topology=topology,
        id=id_,
        text=text,
        fingerprint=fingerprint(
            "routelab.stages.bound",
            " ".join(parts),
            [] if rules is None else [type(rules)],
            wanted.inputs,
        ),
        inputs=wanted.inputs,
        limits=wanted.limits,
        seconds=bound.seconds,
        exact=bound.exact,
    )

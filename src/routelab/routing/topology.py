"""The topology stage: build a network from its name, or read it back; facts about it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from routelab.api import InputError, PluginError, Topology, TopologyPlugin
from routelab.jobs.plugin_errors import as_unexpected_error
from routelab.metrics import best_cut, connected_components, network_cost, pairs, switch_distances
from routelab.registry.instances import load, name_of
from routelab.registry.names import without_parameters
from routelab.registry.requirements import source_line
from routelab.results.outcome import OUTCOME, Outcome, read_outcome
from routelab.routing.fact_columns import NETWORK, SHAPE
from routelab.routing.topology_file import load_topology, save_topology, write_channels_csv
from routelab.toolkit.input_files import is_folder

logger = logging.getLogger(__name__)

ARRAYS, CHANNELS = "topology.npz", "channels.csv"
"""Files of a topology folder."""

TOPOLOGY_FIELDS = tuple(column.name for column in (*NETWORK, *SHAPE))
"""Names of the facts of `network_facts`, in order."""

NOTES = ("left_out", "file_notes")
"""Attributes of a network, notes on its file, that are facts of all its results."""

MAX_SWITCHES: Final = 20_000
"""Largest number of switches whose distances and cuts are facts."""

NAMED_PARTS = 5
"""Parts of a disconnected network that are named."""

NAMED_FAILURES = 10
"""Failed links, and failed switches, that are named in every result."""

FAILURES = {
    *("failed_switches", "failed_links", "fail_switches", "fail_links"),
    *("nodes", "allocate", "shape"),
}
"""Parameters of networks that remove parts of them."""


def load_network(text: str | Topology) -> tuple[str, Topology]:
    """Return the name and the network of an instance name or of a topology job's folder.

    Parameters
    ----------
    text : str or Topology
        An instance name, a topology folder, or a ``topology.npz``. The name of a `Topology` is
        its family.

    Raises
    ------
    InputError
        If the name is wrong, or the folder has no network.
    """
    if isinstance(text, Topology):
        return text.family, text
    path = Path(text)
    if is_folder(path):
        outcome = _outcome_in(path)
        if outcome.status != "ok":
            raise InputError(f"{path} holds no network: {outcome.reason}")
        try:
            return outcome.topology, load_topology(path / ARRAYS)
        except InputError as error:
            # the file alone is not enough: a folder with an outcome counts as done
            raise InputError(f"remove the folder {path} and run again: {error}") from error
    if path.suffix == ".npz":
        return path.stem, load_topology(path)
    plugin = load("topology", text)
    with as_unexpected_error():
        return name_of(plugin), build_topology(plugin)


def build_topology(plugin: TopologyPlugin) -> Topology:
    """Build the network of a plugin, and log what its file has that is not used.

    Raises
    ------
    PluginError
        If the plugin returns anything else.
    """
    network = plugin.build()
    if not isinstance(network, Topology):
        raise PluginError(
            f"{plugin.name}: expected a Topology, found {type(network).__name__}"
            f"{source_line(plugin.build)}"
        )
    if "file_notes" in network.attributes:
        file, notes = network.attributes.get("file", plugin.name), network.attributes["file_notes"]
        logger.warning("%s: %s", file, notes)
    return network


def _outcome_in(folder: Path) -> Outcome:
    """Return the outcome of a topology job in its folder; refuse folders of other jobs."""
    outcome = read_outcome(folder / OUTCOME)
    if outcome.kind != "topology":
        raise InputError(
            f"{folder} holds the result of a {outcome.kind} job, not a network; name the network, "
            "or the folder that `routelab topology` wrote"
        )
    return outcome


def failed_outcome(text: str) -> Outcome | None:
    """Return the outcome that jobs get whose network could not be built; None if it was built.

    Parameters
    ----------
    text : str
        An instance name, a topology folder, or a ``topology.npz``. Only a folder has an outcome;
        the result for other texts is None.
    """
    folder = Path(text)
    if not is_folder(folder):
        return None
    outcome = _outcome_in(folder)
    if outcome.status == "ok":
        return None
    return replace(outcome, reason=f"no network: {outcome.reason}")


def network_name(text: str) -> str:
    """Return the name of the network in a topology job's folder; return other texts unchanged."""
    folder = Path(text)
    return _outcome_in(folder).topology if is_folder(folder) else text


def write_topology(topology: Topology, folder: Path, provenance: Mapping[str, Any]) -> None:
    """Write a network into a folder."""
    save_topology(topology, folder / ARRAYS, provenance)
    write_channels_csv(topology, folder / CHANNELS)


def topology_facts(topology: Topology) -> dict[str, Any]:
    """Return the sizes of a network; ``parts``, failures and `NOTES` only where there are any."""
    components = connected_components(topology)
    facts: dict[str, Any] = {
        "switches": topology.num_switches,
        "terminals": topology.num_terminals,
        "channels": topology.num_channels,
        "pairs": pairs(topology),
        "connected_parts": len(components),
    }
    if len(components) > 1:
        # "12 switches with 0.0, 3 switches with 4.1 and 2 more": size, and the first switch of each
        texts = [
            f"{len(switches)} switch{'es' if len(switches) > 1 else ''} with "
            f"{topology.switch_names[switches[0]]}"
            for switches in components[:NAMED_PARTS]
        ]
        more = len(components) - len(texts)
        facts["parts"] = ", ".join(texts) + (f" and {more} more" if more else "")
    for field in ("failed_switches", "failed_links"):
        if failed_names := getattr(topology, field):
            facts[f"{field}_names"] = names_text(failed_names)
    return facts | {name: value for name, value in topology.attributes.items() if name in NOTES}


def names_text(names: Sequence[str]) -> str:
    """Return a number and the first `NAMED_FAILURES` names: ``12: 0.0, 0.1, … and 2 more``."""
    more = len(names) - NAMED_FAILURES
    text = f"{len(names)}: {', '.join(names[:NAMED_FAILURES])}"
    return f"{text} and {more} more" if more > 0 else text


def switch_numbers(name: str, topology: Topology) -> dict[str, int]:
    """Return the number of each switch by name, for parameters such as ``failed_links``.

    These take numbers that count the switches of the whole network. So a network with failures is
    built once more without them.

    Parameters
    ----------
    name : str
        Canonical name of the network.
    topology : Topology

    Returns
    -------
    dict
        Also has the failed switches. Empty if the whole network cannot be built from the name.
    """
    whole = topology
    whole_name = without_parameters(name, FAILURES)
    if whole_name != name or topology.failed_switches:
        try:
            whole = load("topology", whole_name).build()
        except InputError:
            return {}
    numbers = {switch: number for number, switch in enumerate(whole.switch_names)}
    # if a switch of `topology` is missing, the name does not describe this network
    return numbers if numbers.keys() >= set(topology.switch_names) else {}


def network_facts(topology: Topology) -> dict[str, Any]:
    """Return the sizes, distances, cost and bisection of a network; None for missing values.

    They are computed once for each network, whereas `topology_facts` are in every result.
    Distances and cuts of networks with more than `MAX_SWITCHES` switches are missing.
    """
    is_small = topology.num_switches <= MAX_SWITCHES
    distances = switch_distances(topology) if is_small else None
    cut = best_cut(topology) if is_small else None
    cost, terminals = network_cost(topology), topology.num_terminals
    # Some families state their bisection, trees only that of their leaves. It is that of the whole
    # network, so it does not hold after a failure.
    has_failures = topology.failed_switches or topology.failed_links
    bisection = None
    if not has_failures:
        attributes = topology.attributes
        bisection = attributes.get("bisection_links", attributes.get("leaf_bisection_links"))
    return {
        **topology_facts(topology),
        "diameter": distances and distances.diameter,
        "mean_distance": distances and distances.mean,
        "mean_minimal_hops": distances and distances.mean_hops,
        "bisection_links": bisection,
        "best_cut_links": cut and cut.links,
        # links per terminal of one half; may exceed 1
        "best_cut_share": 2 * cut.links / terminals if cut and terminals else None,
        "links": cost.links,
        "local_links": cost.local_links,
        "global_links": cost.global_links,
        "switch_ports": cost.most_switch_ports,
        "links_per_terminal": cost.links / terminals if terminals else None,
        "ports_per_terminal": cost.total_ports / terminals if terminals else None,
    }

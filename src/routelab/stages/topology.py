"""The topology stage: build a network from its name, or read it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from routelab.api import InputError, PluginError, Topology, TopologyPlugin
from routelab.artifacts.outcome import Outcome, read_outcome
from routelab.artifacts.topology_file import load_topology, save_topology, write_channels_csv
from routelab.jobs.blame import blame_plugin
from routelab.registry.instances import load, name_of
from routelab.toolkit.input_files import is_folder

OUTCOME, ARRAYS, CHANNELS = "outcome.json", "topology.npz", "channels.csv"
"""Files of a topology folder."""


def obtain(text: str | Topology) -> tuple[str, Topology]:
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
    with blame_plugin([plugin]):
        return name_of(plugin), build_topology(plugin)


def build_topology(plugin: TopologyPlugin) -> Topology:
    """Build the network of a plugin.

    Raises
    ------
    PluginError
        If the plugin returns anything else.
    """
    network = plugin.build()
    if not isinstance(network, Topology):
        raise PluginError(f"{plugin.name}: expected a Topology, found {type(network).__name__}")
    return network


def _outcome_in(folder: Path) -> Outcome:
    outcome = read_outcome(folder / OUTCOME)
    if outcome.kind != "topology":
        raise InputError(
            f"{folder} holds what a {outcome.kind} job found, no network; name the network, or the "
            "folder that `routelab topology` wrote"
        )
    return outcome


def failed_outcome(text: str) -> Outcome | None:
    """Return the outcome of a network that could not be built; dependent jobs get the same.

    Parameters
    ----------
    text : str
        As for `obtain`; the result is None for all but folders.
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

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

OUTCOME, ARRAYS, CHANNELS = "outcome.json", "topology.npz", "channels.csv"
"""Files of a topology folder."""


def obtain(text: str | Topology) -> tuple[str, Topology]:
    """A network and its name, from an instance name or from the folder of a topology job.

    Parameters
    ----------
    text : str or Topology
        An instance name, a topology folder, or a ``topology.npz``. A network that is given itself
        goes by its family.

    Raises
    ------
    InputError
        If the name is wrong, or the folder holds no network.
    """
    if isinstance(text, Topology):
        return text.family, text
    path = Path(text)
    if path.is_dir():
        outcome = _outcome_in(path)
        if outcome.status != "ok":
            raise InputError(f"{path} holds no network: {outcome.reason}")
        try:
            return outcome.topology, load_topology(path / ARRAYS)
        except InputError as error:
            # not the file alone: a folder with an outcome counts as done
            raise InputError(f"remove the folder {path} and run again: {error}") from error
    if path.suffix == ".npz":
        return path.stem, load_topology(path)
    plugin = load("topology", text)
    with blame_plugin([plugin]):
        return name_of(plugin), build(plugin)


def build(plugin: TopologyPlugin) -> Topology:
    """The network of a plugin.

    Raises
    ------
    PluginError
        If it makes something else.
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


def unusable(text: str) -> Outcome | None:
    """The outcome of a network that could not be built: it is that of what needs it, too.

    Parameters
    ----------
    text : str
        As for `obtain`; None is returned for all but folders.
    """
    folder = Path(text)
    if not folder.is_dir():
        return None
    outcome = _outcome_in(folder)
    if outcome.status == "ok":
        return None
    return replace(outcome, reason=f"no network: {outcome.reason}")


def name_at(text: str) -> str:
    """The name of the network in the folder of a topology job; other texts are names."""
    folder = Path(text)
    return _outcome_in(folder).topology if folder.is_dir() else text


def write_result(topology: Topology, folder: Path, provenance: Mapping[str, Any]) -> None:
    """Write a network into a folder."""
    save_topology(topology, folder / ARRAYS, provenance)
    write_channels_csv(topology, folder / CHANNELS)

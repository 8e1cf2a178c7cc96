"""The topology stage: build a network from its name, or read it back."""

from __future__ import annotations

import traceback
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from routelab.api import InputError, Plugin, RoutelabError, Topology
from routelab.artifacts.atomic import atomic_directory
from routelab.artifacts.outcome import Outcome, Status, read_outcome, write_outcome
from routelab.artifacts.provenance import Measured, seed_of
from routelab.artifacts.topology_file import load_topology, save_topology, write_channels_csv
from routelab.registry.catalogue import QuarantinedError
from routelab.registry.instances import load, name_of
from routelab.stages.facts import topology_facts
from routelab.stages.limits import Breach

OUTCOME, ARRAYS, CHANNELS = "outcome.json", "topology.npz", "channels.csv"
"""Files of a topology folder."""


def obtain(text: str | Topology) -> tuple[str, Topology]:
    """A network and its name, from an instance name or from what `run` wrote.

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
    return name_of(plugin), plugin.build()


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
    """The name of the network in a folder that `run` wrote; other texts are names."""
    folder = Path(text)
    return _outcome_in(folder).topology if folder.is_dir() else text


def fingerprint_at(text: str) -> str:
    """The fingerprint of the network in a folder that `run` wrote; empty for names."""
    folder = Path(text)
    return str(_outcome_in(folder).provenance["fingerprint"]) if folder.is_dir() else ""


def run(text: str, directory: Path, fingerprint: str = "") -> Outcome:
    """Build a network and write its folder; an error of the plugin becomes the outcome.

    Raises
    ------
    InputError
        If the name is wrong or the folder cannot be written.
    """
    plugin = load("topology", text)
    name = name_of(plugin)
    topology: Topology | None = None
    status: Status = "ok"
    reason = ""
    with Measured() as measured:
        try:
            topology = plugin.build()
        except RoutelabError as error:
            status, reason = "unsupported", str(error)
        except Exception as error:
            traceback.print_exc()
            status, reason = "failed", f"{type(error).__name__}: {error}"
    provenance = measured.provenance([plugin], seed_of([plugin]), fingerprint)
    facts = {} if topology is None else topology_facts(topology)
    outcome = Outcome("topology", name, "", status, reason, facts, provenance)
    with atomic_directory(directory) as folder:
        if topology is not None:
            save_topology(topology, folder / ARRAYS, provenance)
            write_channels_csv(topology, folder / CHANNELS)
        write_outcome(outcome, folder / OUTCOME)
    return outcome


def write_breach(text: str, directory: Path, breach: Breach, fingerprint: str = "") -> Outcome:
    """Write the outcome of a job that was stopped at its limits or whose plugin is broken."""
    plugins: list[Plugin] = []
    with suppress(QuarantinedError):
        plugin = load("topology", text)
        text, plugins = name_of(plugin), [plugin]
    with Measured() as measured:
        provenance = measured.provenance(plugins, seed_of(plugins), fingerprint)
    outcome = Outcome("topology", text, "", breach.status, breach.reason, {}, provenance)
    with atomic_directory(directory) as folder:
        write_outcome(outcome, folder / OUTCOME)
    return outcome

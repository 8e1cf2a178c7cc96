"""Cluster files: the machine of a cluster, and how jobs run on it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, PrivateAttr, ValidationError, ValidationInfo, field_validator

from routelab.api import InputError
from routelab.registry.instances import canonical, load
from routelab.study.cluster.executables import require_executable
from routelab.study.cluster.fabric import FabricCommands
from routelab.study.cluster.hostlist import compress, find_hosts
from routelab.study.cluster.jobs import (
    Argument,
    HostList,
    Hosts,
    InstanceName,
    Program,
    SlurmWord,
    VariableName,
    VariableValue,
    host_names,
    hosts_by_coordinates,
    unequal_dimensions,
)
from routelab.study.cluster.machine import MachineValue, Origin, read_machine
from routelab.study.document import Document, load_document
from routelab.study.entries import StudyPart
from routelab.study.errors import ConfigError, suggestion
from routelab.study.files import path_from_working_folder
from routelab.study.validation import describe_mistakes
from routelab.toolkit.input_files import is_regular
from routelab.toolkit.machine import Machine

CLUSTERS = Path("config/clusters")
"""Folder in which clusters are looked up by name."""

Launcher: TypeAlias = Literal["srun", "mpiexec", "openmpi"]
"""Slurm's steps, MPICH's mpiexec (hydra), Open MPI's mpirun."""

COLLECTION_KEYS = (
    "options",
    "allocation",
    "environment",
    "hosts",
    "node_sets",
    "benchmarks",
    "machine",
)
"""Keys with lists and mappings, which may be empty."""

PLUGIN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class Cluster(StudyPart):
    """A cluster (``config/clusters/<name>.yaml``); all but `machine` is for launching real jobs."""

    name: str | None = Field(default=None, description="Display name")
    description: str | None = Field(default=None, description="Description of the cluster")
    topology: InstanceName | None = Field(
        default=None, description="Instance name of the cluster's network"
    )
    nodes: int | None = Field(default=None, ge=1, strict=True, description="Number of nodes")
    ranks_per_node: int = Field(
        default=1, ge=1, le=4096, strict=True, description="MPI processes per host"
    )
    launcher: Launcher = Field(default="mpiexec", description="Program that starts MPI processes")
    program: Program | None = Field(
        default=None, description="File of the launcher, if it is not on PATH under its usual name"
    )
    mpi: SlurmWord | None = Field(
        default=None, description="MPI type for srun (--mpi), such as pmi2"
    )
    options: list[Argument] = Field(default=[], description="Further arguments of the launcher")
    partition: SlurmWord | None = Field(default=None, description="Of Slurm")
    account: SlurmWord | None = Field(default=None, description="Of Slurm")
    allocation: list[Argument] = Field(default=[], description="Further arguments of salloc")
    environment: dict[VariableName, VariableValue] = Field(
        default={}, description="Additional environment variables of the benchmarks"
    )
    hosts: Hosts = Field(
        default=[],
        description="Hosts in the order of the network's terminals, such as n[01-32], or each "
        "with its coordinates; empty: everything runs on this machine",
    )
    node_sets: dict[InstanceName, HostList] = Field(
        default={},
        description="Hosts for jobs on a part of the machine, in the order of its terminals, for "
        "each topology (such as torus~dims=4x2)",
    )
    benchmarks: dict[Annotated[str, Field(pattern=PLUGIN)], Program] = Field(
        default={},
        description="Executable of each benchmark plugin, or its folder (default: looked up on "
        "PATH)",
    )
    fabric: FabricCommands | None = Field(
        default=None,
        description="Commands that change the routing of the fabric (default: it stays as it is)",
    )
    machine: dict[str, MachineValue] = Field(
        default={}, description="Fields of the machine that differ from the defaults"
    )

    _file: str = PrivateAttr("cluster")

    def model_post_init(self, context: Any) -> None:
        """Keep the name of the file, for messages."""
        self._file = (context or {}).get("file", "cluster")

    @field_validator(*COLLECTION_KEYS, mode="before")
    @classmethod
    def _default_if_empty(cls, value: Any, info: ValidationInfo) -> Any:
        """Treat a key without a value, or with only comments, as missing."""
        if value is not None or info.field_name is None:
            return value
        return cls.model_fields[info.field_name].get_default()

    @property
    def all_hosts(self) -> tuple[str, ...]:
        """Every host, in the order of the file."""
        return host_names(self.hosts)

    def hosts_of(self, topology_text: str, terminals: int) -> tuple[str, ...]:
        """Return the hosts of a job on a network, in the order of its terminals.

        Parameters
        ----------
        topology_text : str
            Instance name of the network: the cluster's own, or one with a node set.
        terminals : int
            Number of terminals of the network.

        Returns
        -------
        hosts : tuple of str
            Empty if the cluster names none: then everything runs on this machine.

        Raises
        ------
        InputError
            If this network has no hosts, or the wrong number of them.
        """
        if not self.hosts and not self.node_sets:
            return ()
        name = _canonical(topology_text)
        for text, hosts in self.node_sets.items():
            if _canonical(text) == name:
                return self._require_count(host_names(hosts), terminals, f"node_sets: {text}: ")
        # `hosts` are for the cluster's own network. Without node sets they may also serve another
        # one, if their number fits, or any one if the file names no network.
        is_own_network = self.topology is not None and _canonical(self.topology) == name
        may_serve_other = not self.node_sets and (
            self.topology is None or len(self.all_hosts) == terminals
        )
        if not self.hosts or not (is_own_network or may_serve_other):
            raise InputError(self._missing_set_text(topology_text, terminals))
        return self._arrange_hosts(topology_text, terminals)

    def _arrange_hosts(self, topology: str, terminals: int) -> tuple[str, ...]:
        """Return `hosts` in the order of a network's terminals; raise InputError if they misfit."""
        if not isinstance(self.hosts, Mapping):
            return self._require_count(self.all_hosts, terminals, "hosts: ")
        # Hosts with coordinates are placed at the switches of the network, which is built for that.
        try:
            return hosts_by_coordinates(self.hosts, load("topology", topology).build())
        except InputError as error:
            lines = str(error).splitlines()
            raise InputError("\n".join(f"{self._file}: hosts: {line}" for line in lines)) from None

    def _require_count(
        self, hosts: tuple[str, ...], terminals: int, prefix: str
    ) -> tuple[str, ...]:
        """Return the hosts if there is one for each terminal; raise InputError otherwise.

        `prefix` is the key of the hosts in the file, for the message.
        """
        if len(hosts) == terminals:
            return hosts
        raise InputError(
            f"{self._file}: {prefix}{len(hosts)} hosts for a network of {terminals} terminals; "
            "list one for each terminal, in their order"
        )

    def _missing_set_text(self, topology: str, terminals: int) -> str:
        """Return a message that the cluster file lacks hosts for a network."""
        networks = [self.topology] if self.topology is not None and self.hosts else []
        networks_text = ", ".join([*networks, *self.node_sets])
        return (
            f"{self._file}: missing hosts for {topology}"
            + (f", only for {networks_text}" if networks_text else "")
            + f"; add its {terminals} hosts in the order of its terminals: "
            f"node_sets: {{{topology}: [...]}}"
        )

    def executable(self, plugin_name: str, candidates: Sequence[str]) -> Path:
        """Find the program of a benchmark.

        Parameters
        ----------
        plugin_name : str
            Name of the benchmark plugin.
        candidates : sequence of str
            Possible names of the program's file, the best one first; or paths.

        Raises
        ------
        InputError
            If it is not found or not executable.
        """
        path = self.environment.get("PATH", os.environ.get("PATH"))
        setting = self.benchmarks.get(plugin_name)
        return require_executable(
            plugin_name, setting=setting, candidates=candidates, path=path, file=self._file
        )


@dataclass(frozen=True)
class ClusterFile:
    """The content of a cluster's file.

    Attributes
    ----------
    path : Path
    cluster : Cluster
    machine : Machine
    origins : dict of str to Origin
        Origins of all fields of the machine that the file sets.
    """

    path: Path
    cluster: Cluster
    machine: Machine
    origins: Mapping[str, Origin]


def require_cluster(
    name: str, homes: tuple[Path, ...] = (CLUSTERS,), word: str = "machine"
) -> Path:
    """Return the file of a cluster.

    Parameters
    ----------
    name : str
        Name of a file in one of the folders, without its suffix; or a path that ends in ``.yaml``.
    homes : tuple of Path
        Folders in which names are looked up, in order.
    word : str
        Beginning of messages: the key or option that gives the name, such as ``cluster``.

    Raises
    ------
    InputError
        If the file does not exist.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        if is_regular(name):
            return Path(name)
        raise ConfigError([f"{word}: {name} not found"])
    for home in homes:
        if is_regular(home / f"{name}.yaml"):
            return home / f"{name}.yaml"
    names = {file.stem for home in homes for file in home.glob("*.yaml")}
    folders = " or ".join(map(str, homes))
    raise ConfigError(
        [f"{word}: no cluster {name!r}, no file {name}.yaml in {folders}{suggestion(name, names)}"]
    )


def locate_cluster(folder: Path, name: str, word: str = "machine") -> str:
    """Return the path of the cluster file that a study names, relative to the working directory.

    Parameters
    ----------
    folder : Path
        Folder of the study. A path starts there. A name is looked up in its folder ``clusters``,
        in those of the two folders above it, and in `CLUSTERS`.
    name : str
    word : str
        Key of the study, for messages.

    Raises
    ------
    InputError
        If the cluster does not exist.
    """
    homes = [
        Path(os.path.normpath(folder / parent / "clusters")) for parent in (".", "..", "../..")
    ]
    if Path(name).suffix in (".yaml", ".yml"):
        name = str(folder / name)
    return path_from_working_folder(
        require_cluster(name, tuple(dict.fromkeys((*homes, CLUSTERS))), word)
    )


def load_cluster(path: Path) -> ClusterFile:
    """Read a cluster's file.

    Raises
    ------
    ConfigError
        An `InputError` with all mistakes, one line each.
    """
    document = load_document(path)
    if not isinstance(document.data, Mapping):
        raise ConfigError(
            [f"{document.place(())}a cluster must be a mapping with machine, name, ..."]
        )
    machine, origins, mistakes = read_machine(document)
    try:
        cluster = Cluster.model_validate(document.data, context={"file": str(path)})
    except ValidationError as error:
        mistakes += describe_mistakes(error, document, Cluster)
    else:
        mistakes += [f"{document.place(at)}{text}" for at, text in _contradictions(cluster)]
    # `machine` is None only if there are mistakes
    if mistakes or machine is None:
        raise ConfigError(sorted(mistakes, key=lambda text: _line_number(text, document)))
    return ClusterFile(path, cluster, machine, origins)


def _contradictions(cluster: Cluster) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield location and message of settings that are valid alone and contradict each other."""
    hosts = cluster.all_hosts
    if cluster.nodes and hosts and cluster.nodes != len(hosts):
        yield (
            ("nodes",),
            f"{cluster.nodes}, but {len(hosts)} hosts are listed; list all, or leave out 'nodes'",
        )
    if cluster.mpi and cluster.launcher != "srun":
        yield (
            ("mpi",),
            f"applies to srun only, but the launcher is {cluster.launcher}; leave it out",
        )
    if isinstance(cluster.hosts, Mapping):
        if cluster.topology is None:
            yield ("hosts",), "have coordinates; name their network in 'topology'"
        yield from ((("hosts", host), text) for host, text in unequal_dimensions(cluster.hosts))
    for name, node_set in cluster.node_sets.items():
        known_hosts = find_hosts(host_names(node_set), hosts)
        # without `hosts` a node set may name any
        unknown_hosts = [host for host in host_names(node_set) if hosts and host not in known_hosts]
        if unknown_hosts:
            yield (
                ("node_sets", name),
                f"{compress(unknown_hosts)} not in hosts; add it there, or fix it",
            )


def _line_number(mistake: str, document: Document) -> int:
    """Return the line with which a mistake begins: 12 of ``clusters/a.yaml:12: nodes: ...``."""
    return int(mistake.removeprefix(f"{document.path}:").partition(":")[0])


def _canonical(text: str) -> str:
    """Return the canonical name of a network; one that is not installed is returned unchanged."""
    try:
        return canonical("topology", text)
    except InputError:
        return text

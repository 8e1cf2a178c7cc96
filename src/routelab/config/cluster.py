"""Descriptions of clusters: what its machine is like, and where each number is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from routelab.config.document import load_document
from routelab.config.entries import StudyPart
from routelab.config.mistakes import ConfigError, describe, suggestion
from routelab.simulation.machine import Machine

CLUSTERS = Path("config/clusters")
"""Where clusters are looked up by name."""


def _number(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    raise ValueError(f"{value!r} should be a number, or true or false")


Number: TypeAlias = Annotated[bool | float, BeforeValidator(_number)]


class Published(StudyPart):
    """A value that was published, or measured."""

    value: Number = Field(description="In the unit of the field")
    source: str = Field(min_length=1, description="Where it is from")


class Assumed(StudyPart):
    """A value that nobody has published."""

    value: Number = Field(description="In the unit of the field")
    assumed: str = Field(min_length=1, description="Why so")
    range: tuple[float, float] = Field(description="Least and greatest value that is plausible")

    @model_validator(mode="after")
    def _within(self) -> Assumed:
        low, high = self.range
        if not low <= self.value <= high:
            raise ValueError(f"{self.value:g} does not lie in its range, {low:g} to {high:g}")
        return self


def _form(value: Any) -> str:
    if isinstance(value, Mapping):
        return "<assumed>" if "assumed" in value or "range" in value else "<published>"
    if isinstance(value, (Published, Assumed)):
        return "<assumed>" if isinstance(value, Assumed) else "<published>"
    return "<scalar>"


Told: TypeAlias = Annotated[
    Annotated[Published, Tag("<published>")]
    | Annotated[Assumed, Tag("<assumed>")]
    | Annotated[Number, Tag("<scalar>")],
    Discriminator(_form),
]
"""A value with where it is from, or alone."""


Launcher: TypeAlias = Literal["srun", "mpiexec", "openmpi"]
"""Slurm's steps, MPICH's mpiexec (hydra), Open MPI's mpirun."""


class FabricChoice(StudyPart):
    """A fabric plugin with its parameters."""

    model_config = ConfigDict(frozen=True, extra="allow")

    use: str = Field(description="Name of a fabric plugin")


class Cluster(StudyPart):
    """A cluster (``config/clusters/<name>.yaml``); all but `machine` is for launching real jobs."""

    name: str | None = Field(default=None, description="For people")
    description: str | None = Field(default=None, description="What it is")
    topology: str | None = Field(default=None, description="Instance name of its network")
    nodes: int | None = Field(default=None, ge=1, description="How many there are")
    ranks_per_node: int = Field(default=1, ge=1, description="MPI processes of a host")
    launcher: Launcher = Field(default="mpiexec", description="What starts MPI processes")
    program: str | None = Field(
        default=None, description="The launcher's file, if it is not found by its usual name"
    )
    mpi: str | None = Field(default=None, description="What srun is told of MPI (--mpi), as pmi2")
    options: list[str] = Field(default=[], description="Further arguments of the launcher")
    partition: str | None = Field(default=None, description="Of Slurm")
    account: str | None = Field(default=None, description="Of Slurm")
    allocation: list[str] = Field(default=[], description="Further arguments of salloc")
    environment: dict[str, str] = Field(
        default={}, description="Environment variables of the benchmarks, besides those there are"
    )
    hosts: str | list[str] | dict[str, list[int]] = Field(
        default=[],
        description="Hosts in the order of the network's terminals, also as n[01-32]; or each with "
        "its coordinates. None: everything runs on this machine",
    )
    node_sets: dict[str, str | list[str]] = Field(
        default={},
        description="Hosts of the jobs on a part of the machine, in the order of its terminals, "
        "by the part's topology (torus~dims=4x2)",
    )
    benchmarks: dict[str, str] = Field(
        default={},
        description="The executable of each benchmark plugin, or the folder that holds it",
    )
    fabric: FabricChoice | None = Field(
        default=None, description="What changes the fabric's routing; by default nothing does"
    )
    machine: dict[str, Told] = Field(
        default={}, description="Fields of the machine that are not as by default"
    )

    @field_validator("machine", mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        return {} if value is None else value


@dataclass(frozen=True)
class Origin:
    """Where a number is from.

    Attributes
    ----------
    value : float or bool
    source : str
        Where it was published; empty if it is assumed, or nothing is said.
    assumed : str
        Why it is assumed; empty if it was published.
    range : tuple of two float, optional
        Least and greatest value that is plausible.
    """

    value: float | bool
    source: str = ""
    assumed: str = ""
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class ClusterFile:
    """A cluster that was read.

    Attributes
    ----------
    path : Path
    cluster : Cluster
    machine : Machine
    origins : dict of str to Origin
        Of every field of the machine that the file sets.
    """

    path: Path
    cluster: Cluster
    machine: Machine
    origins: Mapping[str, Origin]


def find_cluster(name: str, homes: tuple[Path, ...] = (CLUSTERS,), word: str = "machine") -> Path:
    """The file of a cluster.

    Parameters
    ----------
    name : str
        Of a file in one of the folders, without its ending; or a path that ends in ``.yaml``.
    homes : tuple of Path
        Where names are looked up, the first folder first.
    word : str
        What the name is given by, for messages.

    Raises
    ------
    InputError
        If there is no such file.
    """
    if Path(name).suffix in (".yaml", ".yml"):
        if Path(name).is_file():
            return Path(name)
        raise ConfigError([f"{word}: there is no file {name}"])
    for home in homes:
        if (home / f"{name}.yaml").is_file():
            return home / f"{name}.yaml"
    known = {file.stem for home in homes for file in home.glob("*.yaml")}
    places = " or ".join(map(str, homes))
    raise ConfigError(
        [f"{word}: no cluster {name!r}, no file {name}.yaml in {places}{suggestion(name, known)}"]
    )


def load_cluster(path: Path) -> ClusterFile:
    """Read a cluster's file.

    Raises
    ------
    ConfigError
        An `InputError` with everything that is wrong, one line each.
    """
    document = load_document(path)
    if not isinstance(document.data, Mapping):
        raise ConfigError([f"{document.place(())}a cluster is a mapping with machine, name, ..."])
    try:
        cluster = Cluster.model_validate(document.data)
    except ValidationError as error:
        raise ConfigError(describe(error, document, Cluster)) from None
    origins = {name: _origin(told) for name, told in cluster.machine.items()}
    try:
        machine = Machine(**{name: origin.value for name, origin in origins.items()})
    except ValidationError as error:
        raise ConfigError(describe(error, document, Machine, ("machine",))) from None
    return ClusterFile(path, cluster, machine, origins)


def _origin(told: Published | Assumed | float | bool) -> Origin:
    if isinstance(told, Published):
        return Origin(told.value, source=told.source)
    if isinstance(told, Assumed):
        return Origin(told.value, assumed=told.assumed, range=told.range)
    return Origin(told)

"""Engines: plugins that run traffic or a workload on a routed network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from routelab._progress import tell
from routelab.api.plugin_base import Plugin
from routelab.api.topology import Topology

if TYPE_CHECKING:
    from routelab.api.plugin import RoutingPart, TrafficPlugin, WorkloadPlugin

Work = Literal["traffic", "workload"]
"""Kind of plugin that an engine runs."""

DEFAULT_ENGINES: Mapping[str, str] = MappingProxyType({"traffic": "packet", "workload": "flow"})
"""The engine that runs each kind of work where none is named."""

TABLES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "traffic": MappingProxyType(
            {
                "loads": "curve.csv",
                "channels": "channels.csv",
                "terminals": "terminals.csv",
                "latencies": "latencies.csv",
            }
        ),
        "workload": MappingProxyType({"flow-channels": "channels.csv", "flow-ranks": "ranks.csv"}),
    }
)
"""Tables that an engine may return for each kind of work, and the files that they go to."""

FACTS: Mapping[str, str] = MappingProxyType({"traffic": "simulations", "workload": "flows"})
"""The rows that the facts of an engine belong to, as ``Column.of`` names them."""

Table = Mapping[str, Sequence[Any]]
"""Columns of one length by name."""


class Store(Protocol):
    """Finished parts of a run that may be killed. Threads may use it."""

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the row that an earlier try kept under `key`; None if there is none."""

    def keep(self, key: str, row: Mapping[str, Any]) -> None:
        """Keep a row of JSON values."""


class NoStore:
    """A store that keeps nothing."""

    def find(self, key: str) -> dict[str, Any] | None:
        """See `Store.find`."""
        return None

    def keep(self, key: str, row: Mapping[str, Any]) -> None:
        """See `Store.keep`."""


class Judge(Protocol):
    """The deadlock checker of routelab, for the routing and the network of a case."""

    def __call__(
        self,
        virtual_channels: int,
        *,
        switching: Literal["virtual-cut-through", "wormhole"],
        packets_per_buffer: int,
    ) -> Mapping[str, str]:
        """Check the routing in routers of this kind.

        Returns
        -------
        facts : mapping
            ``deadlock`` (the status), ``deadlock_proof``, ``deadlock_reason``,
            ``deadlock_coverage`` and ``deadlock_cycle``; the last two may be empty.
        """


def _unchecked(
    virtual_channels: int, *, switching: str, packets_per_buffer: int
) -> Mapping[str, str]:
    return {
        "deadlock": "not-checked",
        "deadlock_proof": "",
        "deadlock_reason": "the caller gave no checker",
        "deadlock_coverage": "",
        "deadlock_cycle": "",
    }


@dataclass(frozen=True, eq=False)
class EngineCase:
    """What an engine has to run.

    Attributes
    ----------
    network : Topology
    routing : RoutingPart
        ``routing.table(network)`` has the routes, unless ``routing.hop_by_hop``;
        ``routing.prepare(network, virtual_channels)`` makes a program of any routing.
    work : TrafficPlugin, WorkloadPlugin or Path
        Traffic supports the network. A workload has not been asked: it needs a `Job`.
        A path is the file of an MPI program; only engines with `EnginePlugin.executables` get one.
    judge : function
        Checks the routing for deadlocks. An engine without routers has no use for it.
    store : Store
        Keeps finished parts of a long run, so that the next try need not repeat them.
    tell : function
        ``tell(task, phase, ended=False)`` reports progress.
    """

    network: Topology
    routing: RoutingPart
    work: TrafficPlugin | WorkloadPlugin | Path
    judge: Judge = _unchecked
    store: Store = field(default_factory=NoStore)
    tell: Callable[..., None] = tell


@dataclass(frozen=True, eq=False)
class EngineResult:
    """What an engine found.

    Attributes
    ----------
    facts : mapping
        Numbers, words, truth values and None, by column. A fact ``blocked`` that is not None says
        why the work could not be completed; then `routelab simulate` ends with exit code 1.
    tables : mapping of str to mapping
        Columns of one length by name, for tables of `TABLES`.
    notes : sequence of str
        Lines that `routelab simulate` prints below the table for people.
    output : str
        What an MPI program printed that the engine ran.
    """

    facts: Mapping[str, Any]
    tables: Mapping[str, Table] = field(default_factory=dict)
    notes: Sequence[str] = ()
    output: str = ""


class EnginePlugin(Plugin):
    """Runs traffic or a workload on a routed network.

    Its parameters are the settings of a run: keys of ``simulation:`` or ``flow:`` in a study,
    options of `routelab simulate`. Its `columns` declare all facts and columns that it returns;
    ``of`` is ``simulations`` for facts and ``loads``, ``channels``, ... for tables (``flows``,
    ``flow-channels``, ... where the work is a workload).

    Class attributes
    ----------------
    work : {"traffic", "workload"}
        The kind of plugin that it runs.
    clock : sequence of str
        Columns that depend on the speed of the machine. All others depend on the case and the
        settings only.
    brief : mapping
        Settings of a run that is as short as possible, by parameter: it compiles what the engine
        needs, and checks use it.
    executables : bool
        Whether it runs the file of an MPI program as well as workloads.
    """

    kind = "engine"
    work: ClassVar[Work]
    clock: ClassVar[Sequence[str]] = ()
    brief: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    executables: ClassVar[bool] = False

    def supports(self, case: EngineCase) -> str | None:
        """Return why the engine cannot run `case`; None if it can."""
        return None

    def check(self) -> None:
        """Look up what the parameters name, such as files; by default nothing.

        Raises
        ------
        InputError
            If something is missing or wrong.
        """

    def in_folder(self, folder: Path) -> Self:
        """Return the engine with the files of its parameters looked up in `folder`.

        Raises
        ------
        InputError
            As `check`.
        """
        moved = {
            name: folder / value
            for name, value in dict(self.parameters).items()
            if isinstance(value, Path) and not value.is_absolute()
        }
        return type(self)(self.parameters.model_copy(update=moved)) if moved else self

    def input_files(self) -> list[Path]:
        """Files that the parameters name: all that are paths."""
        return [value for value in dict(self.parameters).values() if isinstance(value, Path)]

    @abstractmethod
    def run(self, case: EngineCase) -> EngineResult:
        """Run the work of `case`.

        Raises
        ------
        UnsupportedError
            If routing, work and settings do not go together; the text is the reason.
        """

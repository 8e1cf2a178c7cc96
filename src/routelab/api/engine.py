"""Engines: plugins that run traffic or a workload on a routed network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

from typing_extensions import override

from routelab._runtime.progress import report_phase
from routelab.api.plugin_base import Plugin
from routelab.api.topology import Topology

if TYPE_CHECKING:
    from routelab.api.plugin import RoutingPart, TrafficPlugin, WorkloadPlugin

Work = Literal["traffic", "workload"]
"""Kind of plugin that an engine runs."""

DEFAULT_ENGINES: Mapping[str, str] = MappingProxyType({"traffic": "packet", "workload": "flow"})
"""Default engine for each kind of work."""

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
        "workload": MappingProxyType(
            {
                "flow-channels": "channels.csv",
                "flow-ranks": "ranks.csv",
                "flow-pairs": "pairs.csv",
            }
        ),
    }
)
"""Tables that an engine may return for each kind of work, and their files."""

FACTS: Mapping[str, str] = MappingProxyType({"traffic": "simulations", "workload": "flows"})
"""Rows that the facts of an engine belong to, as in ``Column.of``, for each kind of work."""

Table = Mapping[str, Sequence[Any]]
"""Columns of equal length by name."""


class Store(Protocol):
    """Storage for finished parts of a run, such as the result of one load and seed.

    It survives a kill of the run, so the next run of the same case continues. Several threads may
    use it.
    """

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the row that was saved under `key`; None if there is none."""

    def save(self, key: str, row: Mapping[str, Any]) -> None:
        """Store a row of JSON values under a key, which says what distinguishes the part."""


class NoStore(Store):
    """A store that stores nothing."""

    @override
    def find(self, key: str) -> dict[str, Any] | None:
        return None

    @override
    def save(self, key: str, row: Mapping[str, Any]) -> None:
        pass


class DeadlockCheck(Protocol):
    """The deadlock checker of routelab, applied to the routing and the network of a case."""

    def __call__(
        self,
        virtual_channels: int,
        *,
        switching: Literal["virtual-cut-through", "wormhole"],
        packets_per_buffer: int,
        max_states: int | None = None,
    ) -> Mapping[str, str]:
        """Check the routing in routers of this kind.

        Parameters
        ----------
        virtual_channels : int
            Virtual channels of each channel.
        switching : {"virtual-cut-through", "wormhole"}
        packets_per_buffer : int
            Packets of the largest size that fit into the buffer of one virtual channel.
        max_states : int, optional
            Number of packet states at which the check of a hop-by-hop algorithm stops; without a
            fault in them, it ends without a proof. None: the checker's own limit.

        Returns
        -------
        facts : mapping
            ``deadlock`` (a word of `routelab.api.verdicts`), ``deadlock_proof`` (its kind),
            ``deadlock_reason``, ``deadlock_coverage`` (which states of a hop-by-hop algorithm were
            checked; empty for a table, of which all routes are) and ``deadlock_cycle`` (a line per
            dependency; empty without a cycle).
        """


def _no_verdict(
    virtual_channels: int,
    *,
    switching: str,
    packets_per_buffer: int,
    max_states: int | None = None,
) -> Mapping[str, str]:
    """Return the facts of a `DeadlockCheck` that checks nothing: the default of `EngineCase`."""
    return {
        "deadlock": "unproven",
        "deadlock_proof": "",
        "deadlock_reason": "the caller provides no checker",
        "deadlock_coverage": "",
        "deadlock_cycle": "",
    }


@dataclass(frozen=True, eq=False)
class EngineCase:
    """Network, routing and work that an engine runs.

    Attributes
    ----------
    network : Topology
    routing : RoutingPart
        ``routing.prepare(network, virtual_channels)`` returns a program that decides at each
        switch, for every routing. ``routing.table(network)`` returns the routes of a routing that
        has a table (``routing.hop_by_hop`` is false).
    work : TrafficPlugin, WorkloadPlugin or Path
        The caller has checked that a traffic plugin supports the network. The engine must check
        whether a workload does: `WorkloadPlugin.supports` needs a `Job`, and the engine decides on
        which terminals the ranks run. A path is the file of an MPI program; only engines with
        `EnginePlugin.executables` get one.
    check_deadlock : function
        Checks the routing for deadlocks. Engines without routers do not need it.
    store : Store
        Stores finished parts of a long run, so that the next run need not repeat them.
    report_progress : function
        ``report_progress(task, phase, ended=False)`` updates the progress display.
    """

    network: Topology
    routing: RoutingPart
    work: TrafficPlugin | WorkloadPlugin | Path
    check_deadlock: DeadlockCheck = _no_verdict
    store: Store = field(default_factory=NoStore)
    report_progress: Callable[..., None] = report_phase


@dataclass(frozen=True, eq=False)
class EngineResult:
    """Result of an engine.

    Attributes
    ----------
    facts : mapping
        A number, text, truth value or None for each column of facts, by its name. A fact
        ``blocked`` that is not None is the reason why the work was not completed; `routelab
        simulate` then ends with exit code 6.
    tables : mapping of str to mapping
        For each table, such as ``channels`` (`routelab.api.engine.TABLES` lists the names), its
        columns of equal length by name.
    notes : sequence of str
        Lines that `routelab simulate` prints below its table.
    output : str
        Output of the MPI program that the engine ran.
    """

    facts: Mapping[str, Any]
    tables: Mapping[str, Table] = field(default_factory=dict)
    notes: Sequence[str] = ()
    output: str = ""


class EnginePlugin(Plugin):
    """Run traffic or a workload on a routed network.

    The parameters are the settings of a run: keys of ``simulation:`` or ``flow:`` in a study, and
    options of `routelab simulate`. `columns` declares all facts and all columns of tables that the
    engine returns. `Column.of` says to which of them a column belongs: ``simulations`` (facts) or
    ``loads``, ``channels``, ... (tables) for traffic; ``flows`` (facts) or ``flow-channels``, ...
    (tables) for workloads.

    Class attributes
    ----------------
    work : {"traffic", "workload"}
        Kind of plugin that the engine runs.
    clock : sequence of str
        Columns that depend on the speed of the machine, such as run times. All others depend only
        on the case and the settings.
    brief : mapping
        Settings of a very short run, by parameter. Such runs serve to compile the engine and to
        check it.
    executables : bool
        Whether the engine also runs executable files of MPI programs.
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
        """Check that what the parameters name exists, such as files; by default, do nothing.

        Raises
        ------
        InputError
            If something is missing or invalid.
        """

    def in_folder(self, folder: Path) -> Self:
        """Return the engine with relative paths in its parameters resolved against `folder`.

        A study calls this with its own folder, because its settings name files relative to it.

        Raises
        ------
        InputError
            If the new parameters name something that is missing or invalid.
        """
        resolved_paths = {
            name: folder / value
            for name, value in dict(self.parameters).items()
            if isinstance(value, Path) and not value.is_absolute()
        }
        if not resolved_paths:
            return self
        return type(self)(self.parameters.model_copy(update=resolved_paths))

    def input_files(self) -> list[Path]:
        """Return the files that the parameters name: all parameters that are paths."""
        return [value for value in dict(self.parameters).values() if isinstance(value, Path)]

    @abstractmethod
    def run(self, case: EngineCase) -> EngineResult:
        """Run the work of `case`.

        Raises
        ------
        UnsupportedError
            If the engine cannot run this routing, work and settings together; the text is the
            reason.
        """

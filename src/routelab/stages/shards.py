"""Shards: many runs of a survey in one process, each of which leaves one row in a store.

The plan cuts a survey into shards; Snakemake runs shards. What it declares, a table of the shard's
runs, is put together from the store, which Snakemake does not own: a run whose row is there, with
the same fingerprint, is not run again, whichever shard it was in. All work on one network is done
in a child process, which builds it once; the parent watches it and keeps the limits of each run.
"""

from __future__ import annotations

import hashlib
import logging
import mmap
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.api.errors import RoutelabError
from routelab.artifacts.json_files import read_json, write_json
from routelab.artifacts.row_store import RowStore, RowWriter
from routelab.artifacts.survey_table import SurveyTable, write_survey_table
from routelab.stages.batches import TRY_AGAIN
from routelab.stages.limits import Breach, run_limited
from routelab.stages.prepared import in_prepared_process

if TYPE_CHECKING:
    from routelab.stages.survey_rows import Network

SPEC = "shard/1"

REHEARSAL = "torus~dims=3x2"
"""The network on which kernels of bounds are loaded."""

logger = logging.getLogger(__name__)


def store(results: Path) -> RowStore:
    """The rows of all surveys in a results folder."""
    return RowStore(results / "surveys" / "rows", worse=TRY_AGAIN)


@dataclass(frozen=True)
class Item:
    """What makes one row: a run, or a bound of a network under some rules.

    Attributes
    ----------
    fingerprint : str
        Of everything that the row depends on.
    topology : str
        Instance name.
    routing : str
        Instance name; empty for a bound.
    rules : str
        Rules of the routing, or those of the bound; empty: none.
    """

    fingerprint: str
    topology: str
    routing: str = ""
    rules: str = ""


@dataclass(frozen=True)
class Shard:
    """Work of one process.

    Attributes
    ----------
    id : str
        Unique among all shards; names its files.
    items : tuple of Item
        Those of one network together, bounds before runs.
    seconds, memory_gb : float
        Limits of each item.
    metrics : tuple of str
        Instance names.
    inputs : tuple of str
        Files that the items read.
    bound_seconds : float
        Limit of a solver of bounds.
    bound_exact : bool
        Whether bounds are raised by a mixed-integer program.
    """

    id: str
    items: tuple[Item, ...]
    seconds: float
    memory_gb: float
    metrics: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    bound_seconds: float = 60.0
    bound_exact: bool = False

    @property
    def runs(self) -> tuple[Item, ...]:
        """Items that are runs."""
        return tuple(item for item in self.items if item.routing)

    @property
    def fingerprint(self) -> str:
        """Changes when any row has to be made again, or there are others."""
        parts = [f"{item.topology} {item.routing} {item.fingerprint}" for item in self.items]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def missing(self, statuses: Mapping[str, str]) -> tuple[Item, ...]:
        """Items without a row, or with one that the next run tries to better."""
        undone = (None, *TRY_AGAIN)
        items = {item.fingerprint: item for item in self.items}
        return tuple(item for key, item in items.items() if statuses.get(key) in undone)

    def write_spec(self, path: Path) -> None:
        """Write what `run_shard` reads."""
        write_json(path, {"format": SPEC, **asdict(self)})


def read_spec(path: Path) -> Shard:
    """Read what `Shard.write_spec` wrote.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    content = read_json(path, SPEC)
    return Shard(
        id=content["id"],
        items=tuple(Item(**item) for item in content["items"]),
        seconds=content["seconds"],
        memory_gb=content["memory_gb"],
        metrics=tuple(content["metrics"]),
        inputs=tuple(content["inputs"]),
        bound_seconds=content["bound_seconds"],
        bound_exact=content["bound_exact"],
    )


def run_shard(spec: Path, results: Path, table: Path) -> int:
    """Do what is missing of a shard, and write the table of all its runs.

    Parameters
    ----------
    spec : path
        Written by `Shard.write_spec`.
    results : path
        The folder whose store has the rows.
    table : path
        CSV; where the rows are from is written beside it, with the suffix ``.json``.

    Returns
    -------
    done : int
        Number of rows that were made.

    Raises
    ------
    InputError
        If the spec cannot be read or a file cannot be written.
    """
    shard = read_spec(spec)
    rows = store(results)
    missing = shard.missing(rows.statuses())
    if missing:
        with rows.writer(shard.id) as writer:
            in_prepared_process(
                partial(_prepare, shard, missing),
                partial(_do_all, shard, missing, writer),
                shard.seconds,
                shard.memory_gb,
                steps=len({(item.routing, item.rules) for item in missing}),
            )
    write_survey_table(_table(shard, rows), table)
    return len(missing)


def _table(shard: Shard, store: RowStore) -> SurveyTable:
    """The shard's runs with the bounds of their networks."""
    found = store.rows({item.fingerprint for item in shard.items})
    lost = [item for item in shard.items if item.fingerprint not in found]
    if lost:
        raise RoutelabError(f"no row was written for {lost[0].topology} and {len(lost) - 1} more")
    bounds = {
        (item.topology, item.rules): found[item.fingerprint]
        for item in shard.items
        if not item.routing
    }
    rows, metrics = [], {}
    for item in shard.runs:
        row = found[item.fingerprint]
        measured = {}
        for name, value, unit, better in row.get("metrics", ()):
            measured[name] = value
            metrics[name] = {"unit": unit, "better": better}
        names = {key: row[key] for key in ("topology", "routing", "status", "reason")}
        times = {f"run_{key}": row.get(key) for key in ("wall_seconds", "cpu_seconds")}
        facts = dict(row["facts"])
        if bounds and row["status"] == "ok":
            from routelab.stages.survey_bounds import facts_beside

            rules = bounds[item.topology, item.rules] if item.rules else None
            facts |= facts_beside(facts, rules, bounds[item.topology, ""])
        rows.append({**names, **measured, **facts, **times, "origin": row["origin"]})
    origins = store.rows({row["origin"] for row in rows})
    return SurveyTable(rows, origins, metrics)


def _prepare(shard: Shard, items: Sequence[Item]) -> None:
    """Import what the items need and load their kernels, so that their processes inherit both."""
    from routelab.stages import survey_runs, warm  # noqa: F401

    for routing in dict.fromkeys(item.routing for item in items if item.routing):
        warm.rehearse(routing, shard.metrics)
    bounds = {item.rules: item for item in items if not item.routing}
    if bounds:
        from routelab.stages.survey_bounds import bound_row
        from routelab.stages.survey_rows import Network

        for rules in bounds:
            bound_row(Network(REHEARSAL), rules, shard.bound_seconds, shard.bound_exact)


def _do_all(shard: Shard, items: Sequence[Item], writer: RowWriter) -> None:
    origin = _write_origin(writer)
    done = 0
    for topology, group in groupby(items, key=lambda item: item.topology):
        left: Sequence[Item] = list(group)
        done += len(left)
        logger.info("[%d/%d] %s", done, len(items), topology)
        while left:
            left = _do_some(left, shard, writer, origin)


def _do_some(items: Sequence[Item], shard: Shard, writer: RowWriter, origin: str) -> Sequence[Item]:
    """Do items of one network up to the first that breaks a limit; returns those after it."""
    from routelab.stages.survey_rows import lost_row

    clock = Clock()
    ended = run_limited(
        partial(_do, shard, items, writer, origin, clock),
        shard.seconds,
        shard.memory_gb,
        since=lambda: clock.since,
    )
    if not isinstance(ended, Breach):
        if ended:
            raise RoutelabError(f"{items[0].topology}: no row was written, see above")
        return ()
    lost = items[clock.position]
    _tell(lost, ended.status, ended.reason)
    row = lost_row(ended.status, ended.reason)
    writer.append(lost.fingerprint, ended.status, _labelled(lost, row, origin))
    return items[clock.position + 1 :]


class Clock:
    """Which item a child works at, and since when: memory that it shares with its parent."""

    def __init__(self) -> None:
        memory = memoryview(mmap.mmap(-1, 16))
        # each number is stored at once: struct would write zeros first, and a parent that looks
        # just then would see an item that began when the machine did
        self._position, self._since = memory[:8].cast("q"), memory[8:].cast("d")
        self.begin(0)

    def begin(self, position: int, spare: float = 0.0) -> None:
        """Say that an item begins now, or in the spare seconds that it has beyond others."""
        self._since[0] = time.monotonic() + spare
        self._position[0] = position

    @property
    def position(self) -> int:
        """Position of the present item."""
        return int(self._position[0])

    @property
    def since(self) -> float:
        """The `time.monotonic` at which it began."""
        return float(self._since[0])


def _do(shard: Shard, items: Sequence[Item], writer: RowWriter, origin: str, clock: Clock) -> int:
    """Make the rows of items of one network."""
    from routelab.stages.survey_rows import Network

    network = Network(items[0].topology)
    for position, item in enumerate(items):
        # solvers of bounds keep their own time, and what they have found by then counts
        clock.begin(position, 0.0 if item.routing else 2 * shard.bound_seconds)
        row = _row(shard, item, network)
        if row["status"] in TRY_AGAIN:
            _tell(item, row["status"], row["reason"])
        try:
            writer.append(item.fingerprint, row["status"], _labelled(item, row, origin))
        except RoutelabError as error:
            logger.error("%s", error)
            return 2
    return 0


def _row(shard: Shard, item: Item, network: Network) -> dict[str, Any]:
    if item.routing:
        from routelab.stages.survey_runs import route_row

        return route_row(network, item.routing, shard.metrics)
    from routelab.stages.survey_bounds import bound_row

    return bound_row(network, item.rules, shard.bound_seconds, shard.bound_exact)


def _labelled(item: Item, row: Mapping[str, Any], origin: str) -> dict[str, Any]:
    names = {"topology": item.topology, "routing": item.routing, "rules": item.rules}
    return {**names, **row, "origin": origin}


def _write_origin(writer: RowWriter) -> str:
    """Note versions and machine once for all rows of this process; returns the note's key."""
    from routelab.artifacts.provenance import Measured

    with Measured() as measured:
        provenance = measured.provenance()
    for key in ("plugins", "seed", "fingerprint", "wall_seconds", "cpu_seconds"):
        del provenance[key]
    key = hashlib.sha256(repr(sorted(provenance.items())).encode()).hexdigest()
    writer.append(key, "origin", provenance)
    return key


def _tell(item: Item, status: str, reason: str) -> None:
    name = item.routing or f"bound of {item.rules or 'the network'}"
    logger.warning("%s: %s: %s: %s", item.topology, name, status, reason)

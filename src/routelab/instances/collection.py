"""The instances and entries in a folder, read by its own checker."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from routelab.api import InputError, Topology
from routelab.routing.topology import load_network
from routelab.toolkit.input_files import is_regular

CHECKER = "check.py"
ABOUT, ROUTES = "about.json", "routes.csv.gz"


class Entry(NamedTuple):
    """An entry.

    Attributes
    ----------
    folder : Path
    about : mapping
        Content of ``about.json``, as it claims.
    """

    folder: Path
    about: Mapping[str, Any]

    @property
    def value(self) -> Fraction:
        """Maximum load that it claims."""
        return Fraction(str(self.about["value"]))

    @property
    def has_routes(self) -> bool:
        """Whether its routes are stored."""
        return is_regular(self.folder / ROUTES)


class Collection:
    """A folder of instances.

    Parameters
    ----------
    root : Path
        Folder ``instances`` of the repository.

    Raises
    ------
    InputError
        If it has no checker.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        if not is_regular(root / CHECKER):
            raise InputError(
                f"{root} has no {CHECKER}; run this in a clone of routelab, or name its folder "
                "'instances' with --instances"
            )
        spec = importlib.util.spec_from_file_location("instances_check", root / CHECKER)
        assert spec is not None
        assert spec.loader is not None
        self.checker: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.checker)

    @property
    def names(self) -> list[str]:
        """Names of all instances, in the order of the index."""
        heading = "name,network_sha256,instance_sha256,retired"
        content = self.read(self.checker.read_file, self.root / "v1/index.csv")
        return [row[0] for row in self.read(self.checker.read_rows, content, heading)[1]]

    def instance(self, name: str) -> Instance:
        """Return the instance of a name.

        Raises
        ------
        InputError
            If there is none, or a file of it is damaged.
        """
        if name not in self.names:
            raise InputError(f"no instance is called {name!r}; there are {', '.join(self.names)}")
        return Instance(self, name)

    def read(self, function: Any, *arguments: Any) -> Any:
        """Call a function of the checker.

        Raises
        ------
        InputError
            If it refuses its arguments.
        """
        try:
            return function(*arguments)
        except (self.checker.RefusedError, OSError, ValueError) as error:
            raise InputError(str(error.args[0])) from error


class Instance:
    """An instance.

    Attributes
    ----------
    name : str
    folder : Path
    rules : mapping
        Content of ``instance.json``.
    capacity : dict of (str, str) to Fraction
        By source and target of a channel.
    demand : dict of (str, str) to int
        By source and target of a pair.
    network_sha256 : str
    """

    def __init__(self, collection: Collection, name: str) -> None:
        self.collection, self.name = collection, name
        self.folder: Path = collection.root / "v1" / name
        self.rules: Mapping[str, Any]
        self.capacity: dict[tuple[str, str], Fraction]
        self.demand: dict[tuple[str, str], int]
        self.network_sha256: str
        read = collection.checker.read_instance
        content = collection.read(read, self.folder, name)
        self.rules, self.capacity, self.demand, self.network_sha256 = content

    @cached_property
    def bound(self) -> Fraction:
        """Lower bound of the maximum load, which the weights in ``bound.csv.gz`` prove."""
        read = self.collection.checker.read_bound
        path = self.folder / "bound.csv.gz"
        exact: Fraction = self.collection.read(read, path, self.capacity, self.demand)
        return Fraction(ceil(exact)) if self.rules["whole_loads"] else exact

    @cached_property
    def network(self) -> Topology:
        """The network, with rings and coordinates.

        Raises
        ------
        InputError
            If its plugin does not make the network of the instance.
        """
        name, network = load_network(self.rules["topology"])
        names = network.switch_names
        ends = [
            [names[switch] for switch in switches]
            for switches in (network.channel_source, network.channel_target)
        ]
        capacity = dict(
            zip(zip(*ends, strict=True), map(Fraction, network.channel_capacity), strict=True)
        )
        terminals = self.rules["terminals"]
        counts = {
            switch: terminals if isinstance(terminals, int) else terminals.get(switch, 0)
            for switch in names
        }
        numbers = dict(zip(names, network.terminals_per_switch.tolist(), strict=True))
        if (capacity, numbers, network.num_channels) != (self.capacity, counts, len(self.capacity)):
            raise InputError(f"{name} is not the network of the instance {self.name}")
        return network

    def entries(self) -> list[Entry]:
        """Return the entries, the best ones first, and of equal ones the oldest.

        Of a day's entries the first has kept its routes.
        """

        def rank(entry: Entry) -> tuple[Fraction, str, bool]:
            return entry.value, str(entry.about["date"]), not entry.has_routes

        return sorted(self._entries(), key=rank)

    def check_entries(self) -> None:
        """Check the best entry and all others whose routes are stored, as claims prove nothing.

        Raises
        ------
        InputError
            If one is not accepted.
        """
        check = self.collection.checker.check_benchmark
        for number, entry in enumerate(self.entries()):
            if number == 0 or entry.has_routes:
                try:
                    self.collection.read(check, self.name, str(entry.folder))
                except InputError as error:
                    raise InputError(f"{entry.folder}: {error}") from error

    def _entries(self) -> Iterator[Entry]:
        folder, read = self.collection.root / "best" / self.name, self.collection.checker.read_json
        for path in sorted(folder.glob(f"*/{ABOUT}")):
            try:
                entry = Entry(path.parent, self.collection.read(read, path))
                _ = entry.value, entry.about["date"]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path} is not the file of an entry: {error!r}") from error
            yield entry

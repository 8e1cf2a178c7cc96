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
    """Routes that somebody has entered for an instance, and what they claim.

    Attributes
    ----------
    folder : Path
        ``best/INSTANCE/NAME`` of the collection; routelab uses the name of the routing.
    about : mapping
        Content of ``about.json``, which is not checked.
    """

    folder: Path
    about: Mapping[str, Any]

    @property
    def value(self) -> Fraction:
        """Maximum load that the entry claims."""
        return Fraction(str(self.about["value"]))

    @property
    def has_routes(self) -> bool:
        """Whether its routes are stored."""
        return is_regular(self.folder / ROUTES)


class Collection:
    """A folder of instances, with the checker ``check.py`` that reads and checks its files.

    Parameters
    ----------
    root : Path
        Folder ``instances`` of the repository.

    Raises
    ------
    InputError
        If the folder has no checker.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        if not is_regular(root / CHECKER):
            raise InputError(
                f"{root} has no {CHECKER}; run this in a clone of routelab, or name its folder "
                "'instances' with --instances"
            )
        # the checker is a program without a package, so it is imported by its path
        spec = importlib.util.spec_from_file_location("instances_check", root / CHECKER)
        assert spec is not None
        assert spec.loader is not None
        self.checker: ModuleType = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.checker)

    @property
    def names(self) -> list[str]:
        """Names of all instances, in the order of the index."""
        heading = "name,network_sha256,instance_sha256,retired"
        content = self.call_checker(self.checker.read_file, self.root / "v1/index.csv")
        _heading, rows = self.call_checker(self.checker.read_rows, content, heading)
        return [name for name, *_ in rows]

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

    def call_checker(self, function: Any, *arguments: Any) -> Any:
        """Call a function of the checker, such as ``self.checker.read_file``; return its result.

        Raises
        ------
        InputError
            If the function refuses its arguments, or cannot read a file.
        """
        try:
            return function(*arguments)
        except (self.checker.RefusedError, OSError, ValueError) as error:
            # the second argument of a RefusedError is the exit code of the checker as a program
            raise InputError(str(error.args[0])) from error


class Instance:
    """A network and the rules for its routes, whose maximum load is to be as low as possible.

    An *entry* is a submission: routes that somebody found for the instance, and the maximum load
    that they claim. The *checker* is the collection's program ``check.py``, which runs without
    routelab. All files are read by its functions, so routelab accepts the same files as it does.

    Attributes
    ----------
    name : str
    folder : Path
        ``v1/NAME`` of the collection.
    rules : mapping
        Content of ``instance.json``.
    capacity : dict of (str, str) to Fraction
        Relative capacity of each channel, by the names of its source and target switch. The load of
        a channel is divided by it.
    demand : dict of (str, str) to int
        Number of pairs of terminals with traffic, by the names of source and target switch.
    network_sha256 : str
        Of ``network.csv``.
    """

    def __init__(self, collection: Collection, name: str) -> None:
        self.collection, self.name = collection, name
        self.folder: Path = collection.root / "v1" / name
        self.rules: Mapping[str, Any]
        self.capacity: dict[tuple[str, str], Fraction]
        self.demand: dict[tuple[str, str], int]
        self.network_sha256: str
        self.rules, self.capacity, self.demand, self.network_sha256 = collection.call_checker(
            collection.checker.read_instance, self.folder, name
        )

    @cached_property
    def bound(self) -> Fraction:
        """Lower bound of the maximum load, which the weights in ``bound.csv.gz`` prove."""
        exact: Fraction = self.collection.call_checker(
            self.collection.checker.read_bound,
            self.folder / "bound.csv.gz",
            self.capacity,
            self.demand,
        )
        # if loads are whole numbers, a bound of 7/2 means that no load is below 4
        return Fraction(ceil(exact)) if self.rules["whole_loads"] else exact

    @cached_property
    def network(self) -> Topology:
        """The network that the plugin of the instance's topology makes, with rings and coordinates.

        Raises
        ------
        InputError
            If that is not the network in the files of the instance.
        """
        name, network = load_network(self.rules["topology"])
        names = network.switch_names
        # 1. Channels and terminals of the network, by the names of switches.
        sources = [names[switch] for switch in network.channel_source]
        targets = [names[switch] for switch in network.channel_target]
        channels = zip(sources, targets, strict=True)
        capacity = dict(zip(channels, map(Fraction, network.channel_capacity), strict=True))
        num_terminals = dict(zip(names, network.terminals_per_switch.tolist(), strict=True))
        # 2. Those of the instance: terminals are one number for all switches, or numbers by switch.
        terminals = self.rules["terminals"]
        expected_terminals = {
            switch: terminals if isinstance(terminals, int) else terminals.get(switch, 0)
            for switch in names
        }
        # 3. Compare. Parallel channels would be one key of `capacity`, so their number counts, too.
        is_same = (
            capacity == self.capacity
            and num_terminals == expected_terminals
            and network.num_channels == len(self.capacity)
        )
        if not is_same:
            raise InputError(f"{name} is not the network of the instance {self.name}")
        return network

    def entries(self) -> list[Entry]:
        """Return the entries, the best ones first, and of equal ones the oldest.

        Of equal entries of one day, one with stored routes counts as the oldest: routelab stores
        them only for an entry that is better than all others.
        """

        def rank(entry: Entry) -> tuple[Fraction, str, bool]:
            # False sorts before True, so entries with routes come first
            return entry.value, str(entry.about["date"]), not entry.has_routes

        return sorted(self._entries(), key=rank)

    def check_entries(self) -> None:
        """Check the best entry, and all others whose routes are stored.

        Without stored routes an entry is only a claim, which need not be true. So the best one must
        have them: the checker refuses it otherwise.

        Raises
        ------
        InputError
            If one is not accepted.
        """
        check = self.collection.checker.check_benchmark
        for rank, entry in enumerate(self.entries()):
            is_best = rank == 0
            if is_best or entry.has_routes:
                try:
                    self.collection.call_checker(check, self.name, str(entry.folder))
                except InputError as error:
                    raise InputError(f"{entry.folder}: {error}") from error

    def _entries(self) -> Iterator[Entry]:
        """Yield the entries by folder name; refuse one that lacks its value or date."""
        folder = self.collection.root / "best" / self.name
        read_json = self.collection.checker.read_json
        for path in sorted(folder.glob(f"*/{ABOUT}")):
            try:
                entry = Entry(path.parent, self.collection.call_checker(read_json, path))
                # to raise here if they are missing or invalid
                _ = entry.value, entry.about["date"]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{path} is not the file of an entry: {error!r}") from error
            yield entry

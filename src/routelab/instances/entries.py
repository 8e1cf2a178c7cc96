"""Entries of installed routings, checked by the collection's checker before they are written."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from routelab import __version__
from routelab._runtime.progress import report_phase
from routelab.api import HopRoutingPlugin, RoutelabError, UnsupportedError
from routelab.instances.collection import ABOUT, ROUTES, Instance
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import load_routing, parameter_rows
from routelab.results.atomic import atomic_file
from routelab.routing.routing import Routing
from routelab.toolkit import route_list_lines

TOOL = "routelab"
VC_PARAMETERS = ("vcs", "vls", "max_channels")
"""Names that parameters of routings have for the number of virtual channels."""

COMPOSED = ("sssp@up-down", "sssp@l-turn", "sssp@tree-turn", "sssp@segment")
"""Compositions of a selection and rules to try, besides the routings that have a name."""


class DifferentError(RoutelabError):
    """A routing makes other routes now than those of its stored entry."""


class NewEntry(NamedTuple):
    """An entry that a routing has made, not yet written.

    Attributes
    ----------
    about : dict
        Content of ``about.json``.
    content : bytes
        The routes, not compressed.
    """

    about: dict[str, Any]
    content: bytes


def installed_routings(instance: Instance) -> Iterator[str]:
    """Yield the names of installed routings for an instance, such as ``words~vcs=2,per=pair``.

    A parameter for the number of virtual channels, if a routing has one, gets that of the instance.
    Left out are routings without tables, which decide hop by hop, and those with a required
    parameter, such as a file.
    """
    vcs, catalogue = instance.rules["virtual_channels"], installed_catalogue()
    # per=hop: a packet may change its virtual channel at each hop; per=pair: it keeps it. With one
    # virtual channel there is no difference.
    may_change_vc = vcs == 1 or instance.rules["per"] == "hop"
    # 1. Routings with a name of their own.
    for key in catalogue.keys("routing"):
        plugin = catalogue.plugin("routing", key)
        defaults = {row.name: row.default for row in parameter_rows(plugin)}
        # a required parameter has no default
        has_required_parameter = None in defaults.values()
        if issubclass(plugin, HopRoutingPlugin) or has_required_parameter:
            continue
        settings = [f"{name}={vcs}" for name in VC_PARAMETERS if name in defaults]
        if "per" not in defaults:
            yield f"{key}~{','.join(settings)}" if settings else key
            continue
        yield f"{key}~{','.join([*settings, 'per=pair'])}"
        if may_change_vc:
            yield f"{key}~{','.join([*settings, 'per=hop'])}"
    # 2. Compositions. The rules up-down with several virtual channels let packets change them.
    yield from COMPOSED
    if may_change_vc:
        yield f"cheapest@up-down~vcs={vcs}"


def make_entry(instance: Instance, routing: str, date: str = "") -> NewEntry:
    """Route the network of an instance, and check the routes as its checker does.

    Parameters
    ----------
    instance : Instance
    routing : str
        Name of a routing with its parameters, such as ``nue~vls=2``.
    date : str
        In ISO 8601 (default: today).

    Raises
    ------
    InputError
        If the name is wrong.
    UnsupportedError
        If the routing does not apply to the network, or its routes break a rule of the instance.
    """
    checker = instance.collection.checker
    # 1. The routes, as the text of an entry.
    algorithm = Routing.from_name(routing)
    table = algorithm.table(instance.network)
    content = "".join(route_list_lines(table)).encode()
    # 2. The checker reads that text, as it does for entries of other programs.
    report_phase(algorithm.name, "check")
    try:
        routes = checker.read_routes(content, instance.rules, instance.capacity, instance.demand)
        # refuses routes whose dependencies have a cycle
        checker.order_dependencies(routes)
    except checker.RefusedError as error:
        text, exit_code = error.args
        # its word, such as "cycle" for exit code 5
        raise UnsupportedError(f"{checker.WORDS[exit_code]}: {text}") from error
    value: Fraction = checker.largest_load(routes, instance.capacity, instance.demand)
    report_phase(algorithm.name, "ok", ended=True)
    # 3. What the entry claims. JSON has no fractions, so a load such as 7/2 becomes a text.
    about = {
        "format": "routing-entry/1",
        "instance": instance.name,
        "network": instance.network_sha256,
        "who": TOOL,
        "tool": TOOL,
        "version": __version__,
        "command": f"routelab instances run {instance.name} {algorithm.name}",
        "date": date or dt.datetime.now(dt.UTC).date().isoformat(),
        "value": int(value) if value.denominator == 1 else str(value),
        "routes": hashlib.sha256(content).hexdigest(),
    }
    return NewEntry(about, content)


def add_entry(instance: Instance, routing: str) -> str:
    """Make the entry of a routing; write it, or compare it with that in the collection.

    Routes are stored only for a new entry that is better than all others.

    Returns
    -------
    report : str
        One line: the load, and the folder of the entry.

    Raises
    ------
    InputError, UnsupportedError
        As `make_entry`.
    DifferentError
        If the entry in the collection has other routes.
    """
    name = load_routing(routing).name
    folder = instance.collection.root / "best" / instance.name / name
    stored = next((entry for entry in instance.entries() if entry.folder == folder), None)
    entry = make_entry(instance, routing)
    value = entry.about["value"]
    if stored is not None:
        if stored.about["routes"] != entry.about["routes"]:
            raise DifferentError(f"{name}: load {value}, {folder} has other routes: {stored.value}")
        return f"{name}: load {value}, the routes of {folder}"
    best = min((entry.value for entry in instance.entries()), default=None)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_file(folder / ABOUT) as draft:
        draft.write_text(json.dumps(entry.about, indent=2) + "\n", encoding="utf-8")
    if best is None or Fraction(value) < best:
        with atomic_file(folder / ROUTES) as draft:
            draft.write_bytes(gzip.compress(entry.content, mtime=0))
        # The other entries are no longer the best: routes that routelab can make again are removed.
        for other in instance.entries():
            if other.folder != folder and other.about.get("tool") == TOOL:
                (other.folder / ROUTES).unlink(missing_ok=True)
    return f"{name}: load {value}, written to {folder}"


def gap(value: Fraction, bound: Fraction) -> float:
    """Return the distance of a load from a bound, in percent."""
    return 100 * float(value / bound - 1)

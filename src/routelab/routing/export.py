"""The export stage: a network with its routes, as files of another program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from routelab.api import ExportPlugin, InputError, RoutelabError, RouteTable
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.instances import load, load_routing
from routelab.registry.requirements import collect_errors
from routelab.results import text_folder
from routelab.results.exports import export_files, file_mismatch
from routelab.results.outcome import OUTCOME, read_outcome
from routelab.results.text_folder import read_folder
from routelab.routing.route import ROUTES
from routelab.routing.routes_file import load_routes
from routelab.routing.routing import Routing
from routelab.routing.topology import load_network
from routelab.study.cluster.keys import load_cluster, require_cluster
from routelab.toolkit.input_files import is_folder, is_regular
from routelab.toolkit.machine import Machine


class DifferentError(RoutelabError):
    """Files differ from the routes that they were compared with."""


def export_routes(
    export: str, routes: Sequence[str], machine: str | Machine = ""
) -> Mapping[str, str]:
    """Export a network with its routes; return the texts of the files by name.

    Parameters
    ----------
    export : str
        Instance name.
    routes : sequence of one or two str
        Output of `routelab route` (a folder, or the ``routes.npz`` in it); or a network (instance
        name, folder or npz file) and a routing (instance name, or output of `routelab route`).
    machine : str or Machine
        A cluster, by name or file (default: a machine with default values).

    Raises
    ------
    InputError
        Lists all mistakes in names and files.
    UnsupportedError
        If the routing does not apply to the network, or the format cannot represent the routes.
    PluginError
        If the files that are read back are not the network with its routes.
    """
    plugin, cluster_machine, table = collect_errors(
        lambda: load("export", export), lambda: machine_by_name(machine), lambda: table_of(routes)
    )
    return export_files(plugin, table, cluster_machine)


def verify_export(export: str, routes: Sequence[str], folder: Path) -> str:
    """Read a folder, and check that it has the network and its routes.

    Parameters
    ----------
    export : str
        Instance name of the format of the files.
    routes : sequence of one or two str
        The routes that it should have, named as for `export_routes`.
    folder : Path
        Output of an export, or files of a site's tool.

    Returns
    -------
    sentence : str
        That the folder holds the network and its routes, with their number.

    Raises
    ------
    InputError
        As `export_routes`; also if files are missing or damaged, or the format cannot be read.
    DifferentError
        If the content differs.
    """
    plugin, table, files = collect_errors(
        lambda: load("export", export), lambda: table_of(routes), lambda: read_folder(folder)
    )
    mismatch = file_mismatch(plugin, table, files)
    if mismatch is not None:
        raise DifferentError(f"{folder} does not hold these routes: {mismatch}")
    num_routes = int((table.path_length > 0).sum())  # without those of 0 hops
    return f"{folder} holds the network and its {num_routes} routes"


def read_export(folder: Path) -> RouteTable:
    """Return the network and the routes in a folder, read by the first format that can.

    Raises
    ------
    InputError
        If no format can; the text has the reason of each that reads files at all.
    """
    files = read_folder(folder)
    reasons = []
    for entry in installed_catalogue().entries("export"):
        plugin = load("export", entry.key)
        assert isinstance(plugin, ExportPlugin)
        try:
            table = plugin.read(files)
        except InputError as error:
            reasons.append(str(error))
            continue
        if table is not None:  # None: a format that is only written
            return table
    raise InputError(f"{folder} holds no routes ({'; '.join(reasons)})")


def machine_by_name(machine: str | Machine) -> Machine:
    """Return a machine by the name or file of its cluster; the default one for an empty text.

    Raises
    ------
    InputError
        If the cluster does not exist, or its file is invalid.
    """
    if isinstance(machine, Machine):
        return machine
    return load_cluster(require_cluster(machine)).machine if machine else Machine()


def table_of(routes: Sequence[str]) -> RouteTable:
    """Return the routes that one or two texts name, as a user gives them on the command line.

    One text, ROUTES: the output of `routelab route`. Two texts, TOPOLOGY and ROUTING: a network
    (name or output of `routelab topology`), and a routing by name or the output of `routelab
    route`.

    Raises
    ------
    InputError
        If a name is wrong, or a file is missing, damaged or of another network.
    UnsupportedError
        If the routing does not apply to the network.
    """
    *network, routing = routes  # `network` has one text, or none
    file = _routes_file(routing)
    if not network:
        if file is None:
            raise InputError(
                f"{routing} is not a folder or routes.npz of `routelab route`; name one, or a "
                "network and a routing: TOPOLOGY ROUTING"
            )
        network = [_network_name(file)]
    if file is not None:
        return load_routes(file, load_network(network[0])[1])
    named_routing, (_, topology) = collect_errors(
        lambda: Routing.from_name(routing), lambda: load_network(network[0])
    )
    table: RouteTable = named_routing.table(topology)
    return table


def _routes_file(text: str) -> Path | None:
    """Return the file of routes that a text names; None for the name of a routing.

    A text that is both a routing and a folder means the routing, unless the folder has an outcome:
    then it is the output of a job.
    """
    path = Path(text)
    if is_folder(path) and (is_regular(path / OUTCOME) or not _is_routing(text)):
        # if the folder has no outcome, this raises the error that it has none
        outcome = read_outcome(path / OUTCOME)
        if outcome.kind != "route" or outcome.status != "ok":
            reason = outcome.reason or f"it is what a {outcome.kind} job found"
            raise InputError(f"{path} holds no routes: {reason}")
        return path / ROUTES
    return path if path.suffix == ".npz" else None


def _is_routing(text: str) -> bool:
    """Return whether a text names an installed routing."""
    try:
        load_routing(text)
    except InputError:
        return False
    return True


def _network_name(file: Path) -> str:
    """Return the name of the network of a file of routes, from the outcome in its folder."""
    if not is_regular(file):
        raise InputError(f"cannot read {file}: file not found")
    outcome = file.parent / OUTCOME
    if not is_regular(outcome):
        raise InputError(
            f"{file} does not contain the network of its routes, and its folder has no {OUTCOME}; "
            "name the network before the file"
        )
    return read_outcome(outcome).topology


def check_destination(folder: Path) -> None:
    """Refuse a folder that cannot be written; its content is checked when the files are known.

    Raises
    ------
    InputError
    """
    text_folder.check_text_folder(folder)


def write_export(files: Mapping[str, str], folder: Path) -> None:
    """Write all files into a folder, or none.

    Raises
    ------
    InputError
        If it cannot be written, or other files would be lost.
    """
    text_folder.write_folder(files, folder, "this export")

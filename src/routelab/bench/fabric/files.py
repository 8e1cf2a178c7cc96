"""The files that a fabric's tools need, written where they look for them."""

from __future__ import annotations

from routelab.api import FabricJob, FabricPlugin, PluginError, RoutelabError
from routelab.artifacts.atomic import atomic_file
from routelab.artifacts.exports import export_files
from routelab.registry.instances import load
from routelab.simulation.flow.machine import Machine

HOSTS = "hosts.txt"
"""Lines ``TERMINAL HOST``, beside the files of the export."""


def texts(fabric: FabricPlugin, job: FabricJob) -> dict[str, str]:
    """The text of every file that a fabric needs, by name, proved to hold the job's routes.

    Raises
    ------
    InputError
        If there is no such export plugin.
    UnsupportedError
        If its format cannot hold the routes.
    PluginError
        If what is read back from the files differs.
    """
    if not fabric.export:
        return {}
    files = export_files(load("export", fabric.export), job.table, Machine())
    if job.hosts:
        if HOSTS in files:
            raise PluginError(f"export/{fabric.export}: expected no file {HOSTS}, found one")
        files[HOSTS] = "".join(f"{terminal} {host}\n" for terminal, host in enumerate(job.hosts))
    return files


def render(fabric: FabricPlugin, job: FabricJob) -> dict[str, str]:
    """Write the files that a fabric needs into the job's folder; what else is there stays.

    Returns
    -------
    files : dict of str to str
        Text by file name.

    Raises
    ------
    InputError
        If a file cannot be written, or there is no such export plugin.
    UnsupportedError, PluginError
        As `texts`.
    """
    files = texts(fabric, job)
    for name, text in files.items():
        path = job.folder / name
        # the same routes are applied in every round, and a tool may still look at its files
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        with atomic_file(path) as new:
            new.write_text(text, encoding="utf-8")
    return files


def problems(fabric: FabricPlugin, job: FabricJob) -> list[str]:
    """What keeps a fabric from being switched, the files that it needs included; a line each."""
    found = fabric.problems(job)
    try:
        texts(fabric, job)
    except RoutelabError as error:
        found = [*found, str(error)]
    return found

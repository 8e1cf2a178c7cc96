"""The files that a fabric's tools need."""

from __future__ import annotations

from routelab.api import PluginError, RoutelabError
from routelab.cluster.bench.fabric.fabric import Fabric, FabricJob
from routelab.registry.instances import load
from routelab.results.atomic import atomic_file
from routelab.results.exports import export_files
from routelab.toolkit.machine import Machine

HOSTS = "hosts.txt"
"""File with lines ``TERMINAL HOST``, next to the files of the export."""


def fabric_files(fabric: Fabric, job: FabricJob) -> dict[str, str]:
    """Return the text of every file that a fabric needs, by name, checked against the job's routes.

    Raises
    ------
    InputError
        If the export plugin does not exist.
    UnsupportedError
        If its format cannot represent the routes.
    PluginError
        If the routes that are read back from the files differ.
    """
    if not fabric.export:
        return {}
    # The speeds of a machine are for exports to simulators; tools of a fabric need none, so the
    # defaults serve.
    files = export_files(load("export", fabric.export), job.table, Machine())
    if job.hosts:
        if HOSTS in files:
            raise PluginError(f"export/{fabric.export}: expected no file {HOSTS}, found one")
        files[HOSTS] = "".join(f"{terminal} {host}\n" for terminal, host in enumerate(job.hosts))
    return files


def write_fabric_files(fabric: Fabric, job: FabricJob) -> dict[str, str]:
    """Write the files that a fabric needs into the job's folder; keep other files in it.

    Returns
    -------
    files : dict of str to str
        Text by file name.

    Raises
    ------
    InputError
        If a file cannot be written, or the export plugin does not exist.
    UnsupportedError, PluginError
        As `fabric_files`.
    """
    files = fabric_files(fabric, job)
    for name, text in files.items():
        path = job.folder / name
        # the same routes are applied in every round, and a tool may still read its files
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        with atomic_file(path) as file:
            file.write_text(text, encoding="utf-8")
    return files


def fabric_problems(fabric: Fabric, job: FabricJob) -> list[str]:
    """Return what keeps a fabric from being switched, including its files; one line each."""
    problems = fabric.problems(job)
    try:
        fabric_files(fabric, job)
    except RoutelabError as error:
        problems = [*problems, str(error)]
    return problems

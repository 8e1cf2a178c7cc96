"""Fingerprints of jobs: equal as long as running a job again would give the same result.

Snakemake compares files and times and does not see that a plugin was edited or upgraded. A job's
fingerprint goes into its ``params:``, so exactly those jobs run again whose code has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from routelab._sources import Sources
from routelab.api.errors import InputError
from routelab.artifacts.distributions import distribution_of, distribution_version
from routelab.toolkit.input_files import MAX_ARRAYS, open_input

FORMAT = "fingerprint/1"


@cache
def _installed_sources() -> Sources:
    return Sources()


def job_fingerprint(
    stage_module: str,
    instance_text: str,
    plugins: Iterable[type | tuple[str, str]] = (),
    input_files: Iterable[str | os.PathLike[str]] = (),
    sources: Sources | None = None,
) -> str:
    """Return the fingerprint of a job.

    It depends on the instance's text, the versions of the plugins' distributions and the content
    of the input files. It also depends on the sources of the stage and the plugins (within
    routelab and the plugin's own top-level package). It does not depend on the location of
    any file. Sources are read once per process.

    Parameters
    ----------
    stage_module : str
        For example ``"routelab.stages.route"``.
    instance_text : str
        Canonical names of what the job runs, joined in any unambiguous way.
    plugins : iterable of class or (module, distribution)
        All plugins that take part, in any order.
    input_files : iterable of path-like
        Files that parameters name, in the order of `instance_text`.
    sources : Sources, optional
        Where modules are looked up; by default like `import`.

    Returns
    -------
    fingerprint : str
        SHA-256, hexadecimal.

    Raises
    ------
    InputError
        If an input file cannot be read.
    ModuleNotFoundError
        If the stage's or a plugin's source cannot be found.
    """
    sources = sources or _installed_sources()
    facts = {
        "format": FORMAT,
        "instance": instance_text,
        "stage": [stage_module, sources.digest([stage_module], {"routelab"})],
        "plugins": sorted(_plugin_facts(plugin, sources) for plugin in plugins),
        "inputs": [content_digest(file) for file in input_files],
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _plugin_facts(plugin: type | tuple[str, str], sources: Sources) -> list[str]:
    if isinstance(plugin, tuple):
        module, distribution = plugin
        number = distribution_version(distribution)
    else:
        module = plugin.__module__
        distribution, number = distribution_of(module)
    roots = {"routelab", module.partition(".")[0]}
    return [module, distribution, number, sources.digest([module], roots)]


def content_digest(file: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, hexadecimal; read an unchanged file once per process.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    try:
        status = Path(file).stat()
        return _digest_of(os.fspath(file), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise InputError(f"cannot read the input file {file}: {error.strerror}") from error


@cache
def _digest_of(file: str, _modified: int, _size: int) -> str:
    with open_input(file, MAX_ARRAYS) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

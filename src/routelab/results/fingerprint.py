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

from routelab._runtime.sources import (
    CITATION_MODULES,
    COMMAND_PARTS,
    core_digest,
    core_files,
    digest,
    plugin_files,
)
from routelab.api import InputError, Plugin
from routelab.results.distributions import distribution_of
from routelab.toolkit.input_files import MAX_ARRAYS, open_input

FORMAT = "fingerprint/3"


def job_fingerprint(
    instance_text: str,
    plugins: Iterable[type[Plugin]] = (),
    input_files: Iterable[str | os.PathLike[str]] = (),
) -> str:
    """Return the fingerprint of what a job computes.

    It changes with the instance's text, the content of the input files, the part of routelab that
    computes, the sources and versions of the plugins (`routelab._runtime.sources` finds them), and
    the files and environment variables that the plugins declare. It does not depend on the location
    of any file. Sources are read once per process.

    Parameters
    ----------
    instance_text : str
        Canonical names of what the job runs, joined in any unambiguous way.
    plugins : iterable of class
        All plugins that take part, in any order.
    input_files : iterable of path-like
        Files that parameters name, in the order of `instance_text`.

    Returns
    -------
    fingerprint : str
        SHA-256, hexadecimal.

    Raises
    ------
    InputError
        If an input file cannot be read.
    """
    return _digest_of_facts(
        code_digest=core_digest(),
        instance_text=instance_text,
        plugins=plugins,
        input_files=input_files,
        excluded_modules=CITATION_MODULES,
    )


def page_fingerprint(
    plugins: Iterable[type[Plugin]], input_files: Iterable[str | os.PathLike[str]]
) -> str:
    """Return the fingerprint of a study's page, which includes the code that shows results.

    Parameters
    ----------
    plugins : iterable of class
        All plugins of the study: they name and describe columns.
    input_files : iterable of path-like
        The study's file and those that it cites.

    Raises
    ------
    InputError
        If an input file cannot be read.
    """
    return _digest_of_facts(
        code_digest=_page_digest(),
        instance_text="",
        plugins=plugins,
        input_files=input_files,
        excluded_modules=(),
    )


def _digest_of_facts(
    *,
    code_digest: str,
    instance_text: str,
    plugins: Iterable[type[Plugin]],
    input_files: Iterable[str | os.PathLike[str]],
    excluded_modules: tuple[str, ...],
) -> str:
    """Return the digest of code, instance, plugins and the content of input files.

    `excluded_modules` of built-in plugins do not count: for a job those with citations, which
    change no number; for a page none.
    """
    classes = list(plugins)
    facts = {
        "format": FORMAT,
        "code": code_digest,
        "instance": instance_text,
        "plugins": sorted(_plugin_facts(plugin.__module__, excluded_modules) for plugin in classes),
        "declared": sorted(_declared_facts(plugin) for plugin in classes),
        "inputs": [content_digest(file) for file in input_files],
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@cache
def _page_digest() -> str:
    return digest(core_files(COMMAND_PARTS))


@cache
def _plugin_facts(module: str, excluded_modules: tuple[str, ...]) -> list[str]:
    return [module, *distribution_of(module), digest(plugin_files(module, excluded_modules))]


def _declared_facts(plugin: type[Plugin]) -> list[list[str | None]]:
    """Return the content of the files and the values of the variables that a plugin declares."""
    return [
        [content_digest(file) for file in plugin.data_files()],
        # a variable that is not set differs from an empty one
        [json.dumps([name, os.environ.get(name)]) for name in plugin.reads_variables],
    ]


def content_digest(file: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file, hexadecimal; read an unchanged file once per process.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    try:
        status = Path(file).stat()
        return _digest_of_file(os.fspath(file), status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise InputError(f"cannot read the input file {file}: {error.strerror}") from error


@cache
def _digest_of_file(file: str, _modified: int, _size: int) -> str:
    """Return the SHA-256 of a file; its time and size are keys of the cache, to notice changes."""
    with open_input(file, MAX_ARRAYS) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

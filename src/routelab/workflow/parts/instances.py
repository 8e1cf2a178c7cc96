"""Instances of a study's entries: name, plugins, and the files that they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from routelab.api import InputError, Plugin
from routelab.api.parameters import value_text
from routelab.registry.catalogue import QuarantinedError, installed_catalogue
from routelab.registry.instances import canonical_with_parameters, load, load_routing
from routelab.registry.names import Name, compose, parse_name, parse_routing
from routelab.registry.parameters import as_text
from routelab.results.fingerprint import job_fingerprint
from routelab.study import Choice
from routelab.study.files import path_from_working_folder
from routelab.toolkit.input_files import is_regular


@dataclass(frozen=True)
class Instance:
    """A plugin, or the plugins of a routing, with all parameters.

    A study in ``studies/`` that names ``graph~file=net.csv`` has an instance with the text
    ``graph~file=studies/net.csv``, and written ``graph~file=net.csv``.

    Attributes
    ----------
    text : str
        Canonical name; files in it are relative to the working directory.
    written : str
        Canonical name; files in it are relative to the study.
    plugins : tuple of Plugin
    inputs : tuple of str
        Files that the plugins read.
    quarantine : str
        Why the plugins cannot be used. Then `plugins` is empty, and both names are as given,
        because only a plugin knows its defaults.
    """

    text: str
    written: str
    plugins: tuple[Plugin, ...]
    inputs: tuple[str, ...]
    quarantine: str = ""


def instance_of(kind: str, choice: Choice, folder: Path) -> Instance:
    """Return the instance of a study's entry.

    Parameters
    ----------
    kind : str
    choice : Choice
    folder : Path
        The study's folder, where files that parameters name are looked up.

    Raises
    ------
    InputError
        If the name is invalid, the plugin does not exist, parameters are wrong or a file is
        missing.
    """
    try:
        written = canonical_with_parameters(kind, choice.name, choice.values or {})
    except QuarantinedError as error:
        # Without its plugins nobody knows to which part of a routing a value belongs, so the first
        # part gets all of them: the name of the failed job shows them.
        values = {key: as_text(value) for key, value in (choice.values or {}).items()}
        parameters = tuple((key, value_text(value, value)) for key, value in values.items())
        names = parse_routing(choice.name) if kind == "routing" else (parse_name(choice.name),)
        first, *others = names
        text = compose((Name(first.key, (*first.parameters, *parameters)), *others))
        return Instance(text=text, written=text, plugins=(), inputs=(), quarantine=str(error))
    plugins = _plugins(kind, written)
    text = _relocate_files(written, plugins, folder)
    if text != written:  # the plugins have to open the files from the working directory
        plugins = _plugins(kind, text)
    inputs = tuple(str(path) for plugin in plugins for path in plugin.input_files())
    absent_files = [path for path in inputs if not is_regular(path)]
    if absent_files:
        raise InputError(f"no file {', '.join(absent_files)} (files are looked up in {folder})")
    return Instance(text=text, written=written, plugins=plugins, inputs=inputs)


def code_digest(instance: Instance) -> str:
    """Return a digest that changes with an instance's name, code or files, or routelab's code."""
    return job_fingerprint(
        instance.text + instance.quarantine,
        map(type, instance.plugins),
        instance.inputs,
    )


def class_names(instance: Instance) -> tuple[str, ...]:
    """Return the names of the classes of an instance's plugins; none if they cannot be used."""
    classes = (type(plugin) for plugin in instance.plugins)
    return tuple(
        f"{plugin_class.__module__}:{plugin_class.__qualname__}" for plugin_class in classes
    )


def class_name(kind: str, key: str) -> tuple[str, ...]:
    """Return the name of a plugin's class as a tuple of one; empty if it cannot be used."""
    try:
        plugin_class = installed_catalogue().plugin(kind, key)
    except InputError:
        return ()
    return (f"{plugin_class.__module__}:{plugin_class.__qualname__}",)


def _plugins(kind: str, text: str) -> tuple[Plugin, ...]:
    return load_routing(text).plugins if kind == "routing" else (load(kind, text),)


def _relocate_files(text: str, plugins: tuple[Plugin, ...], folder: Path) -> str:
    """Return an instance name with files relative to the working directory instead of `folder`.

    In the folder ``studies``, ``graph~file=net.csv`` becomes ``graph~file=studies/net.csv``.
    """
    files = {str(path) for plugin in plugins for path in _relative_files(plugin)}
    if not files:
        return text

    def relocate(name: Name) -> Name:
        parameters = (
            (key, path_from_working_folder(folder / value) if value in files else value)
            for key, value in name.parameters
        )
        return Name(name.key, tuple(parameters))

    return compose(map(relocate, parse_routing(text)))


def _relative_files(plugin: Plugin) -> Iterator[Path]:
    for value in dict(plugin.parameters).values():
        if isinstance(value, Path) and not value.is_absolute():
            yield value

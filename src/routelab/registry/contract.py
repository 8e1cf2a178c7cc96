"""Checks of the plugin contract that do not run a plugin."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any, get_args

from routelab.api import (
    KINDS,
    BenchmarkPlugin,
    Capabilities,
    Citation,
    Column,
    Composition,
    ContextMetricPlugin,
    EnginePlugin,
    HopRoutingPlugin,
    InputError,
    Parameters,
    Plugin,
    PluginError,
    Proof,
)
from routelab.api.engine import FACTS, TABLES
from routelab.kernels import hops
from routelab.kernels.hops import ABI
from routelab.registry.names import Name, parse_name
from routelab.registry.parameters import default_problems, fields
from routelab.registry.requirements import source_line
from routelab.toolkit.input_files import is_regular

PARTS = ("selection", "rules", "layers")
"""Parts of a composition: kinds, which are also the attributes of `Composition`."""

CLAIM_KINDS = (*PARTS, "routing")
"""Kinds whose capabilities help a user to choose."""


def check_contract(plugin: Any, kind: str, key: str, label: str) -> type[Plugin]:
    """Return `plugin` if it is a plugin of `kind` that fulfils the contract.

    Parameters
    ----------
    plugin : object
        What the entry point names.
    key : str
        Name of the entry point.
    label : str
        The plugin and its distribution, for messages.

    Raises
    ------
    PluginError
        If it is not; the text names the plugin, and the expected and actual value of each problem.
    """
    bases = KINDS[kind]
    if not (isinstance(plugin, type) and issubclass(plugin, bases)):
        names = " or ".join(base.__name__ for base in bases)
        raise PluginError(f"{label}: expected a subclass of {names}, found {plugin!r}")
    problems = [*_attribute_problems(plugin, key), *_parameter_problems(plugin)]
    if issubclass(plugin, Composition):
        problems += _composition_problems(plugin)
    problems += _kernel_problems(plugin)
    if problems:
        raise PluginError(f"{label}: {'; '.join(problems)}")
    return plugin


def _attribute_problems(plugin: type[Plugin], key: str) -> Iterator[str]:
    """Yield what is wrong with the attributes of a class whose entry point is called `key`."""
    # 1. What all plugins have. An attribute without a default, such as the name, is missing in a
    #    class that does not set it.
    if inspect.isabstract(plugin):
        abstract_methods = ", ".join(sorted(plugin.__abstractmethods__))
        yield f"expected every method of its kind, found none for {abstract_methods}"
    name = getattr(plugin, "name", None)
    if name != key:
        yield f"expected name to be the entry point's, {key!r}, found {name!r}"
    summary = getattr(plugin, "summary", None)
    if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
        yield f"expected summary to be one line of text, found {summary!r}"
    elif summary.rstrip().endswith("."):
        yield f"expected a summary without a full stop, found {summary!r}"
    citations = plugin.citations
    if not _is_sequence_of(Citation, citations):
        yield f"expected citations to be a sequence of Citation, found {citations!r}"
    columns = plugin.columns
    if not _is_sequence_of(Column, columns):
        location = source_line(plugin)
        yield f"expected columns to be a sequence of Column, found {columns!r}{location}"
    elif problems := [column.problem for column in columns if column.problem]:
        yield from problems
    elif clashes := sorted({column.name for column in columns} & set(RESERVED_COLUMNS)):
        yield f"expected no column called like one of every row, found {', '.join(clashes)}"
    if not isinstance(plugin.capabilities, Capabilities):
        yield f"expected capabilities to be a Capabilities, found {plugin.capabilities!r}"
    yield from _declaration_problems(plugin)
    # 2. What plugins of one kind have.
    if issubclass(plugin, ContextMetricPlugin) and not isinstance(plugin.by_default, bool):
        yield f"expected by_default to be True or False, found {plugin.by_default!r}"
    if issubclass(plugin, BenchmarkPlugin):
        figure = getattr(plugin, "figure", None)
        if not isinstance(figure, str) or not figure.strip():
            yield f"expected figure to be the name of a figure of merit, found {figure!r}"
    if issubclass(plugin, HopRoutingPlugin):
        yield from _hop_problems(plugin)
    if issubclass(plugin, EnginePlugin):
        yield from _engine_problems(plugin)


def _declaration_problems(plugin: type[Plugin]) -> Iterator[str]:
    """Yield what is wrong with the files and variables that a plugin class declares."""
    files, variables = plugin.reads_files, plugin.reads_variables
    if not _are_texts(files):
        yield f"expected reads_files to be a sequence of paths as text, found {files!r}"
    elif absent_files := [str(file) for file in plugin.data_files() if not is_regular(file)]:
        yield f"expected reads_files to name files, found no file {', '.join(absent_files)}"
    if not _are_texts(variables) or any("=" in name for name in variables):
        yield (
            "expected reads_variables to be a sequence of names of environment variables, found "
            f"{variables!r}"
        )


def _is_sequence_of(kind: type, values: object) -> bool:
    """Return whether a value is a sequence whose items are all of the class `kind`."""
    return isinstance(values, Sequence) and all(isinstance(value, kind) for value in values)


def _are_texts(values: object) -> bool:
    """Return whether a value is a sequence of texts, none of them empty; a text is not one."""
    return (
        isinstance(values, Sequence)
        and not isinstance(values, str)
        and all(isinstance(value, str) and value for value in values)
    )


RESERVED_COLUMNS = ("topology", "routing", "status", "reason")
"""Columns that routelab writes to every row, so a plugin must not declare them."""

RESERVED_SETTINGS = (
    *("engine", "format", "help", "log_json", "output", "plot", "quiet", "verbose"),
    *("routing", "routings", "topology", "work"),
)
"""Names that no setting of an engine may have: those of other arguments of the command `routelab
simulate` or the function `routelab.simulate`."""


def _engine_problems(plugin: type[EnginePlugin]) -> Iterator[str]:
    """Yield what is wrong with the work, parameters and columns of an engine."""
    work = str(getattr(plugin, "work", None))
    if work not in FACTS:
        yield f"expected work to be one of {', '.join(FACTS)}, found {work!r}"
        return
    if clashes := sorted(set(RESERVED_SETTINGS) & set(fields(plugin.Parameters))):
        yield f"expected no parameter called like an option of routelab, found {', '.join(clashes)}"
    own_rows = {FACTS[work], *TABLES[work]}
    for column in plugin.columns:
        if other_rows := sorted(set(column.of) - own_rows):
            row_kinds = ", ".join(sorted(own_rows))
            yield f"expected columns of {row_kinds}, found {column.name} of {other_rows[0]}"
    names = {column.name for column in plugin.columns} | set(fields(plugin.Parameters))
    if unknown_names := sorted(set(plugin.clock) - names):
        yield f"expected clock to name columns, found {', '.join(unknown_names)}"
    # `brief` names fields as in Python (``from_``). `clock` names columns, and settings are columns
    # under their names for users (``from``).
    if unknown_names := sorted(set(plugin.brief) - set(plugin.Parameters.model_fields)):
        yield f"expected brief to name parameters, found {', '.join(unknown_names)}"


def _hop_problems(plugin: type[HopRoutingPlugin]) -> Iterator[str]:
    """Yield what is wrong with the ABI and the proof of a hop-by-hop routing."""
    if plugin.abi != ABI:
        is_newer = isinstance(plugin.abi, int) and plugin.abi > ABI
        advice = (
            "install a newer routelab"
            if is_newer
            else f"adapt its functions (docs/concepts/hop-by-hop.md) and set abi to {ABI}"
        )
        yield (
            f"it was written for ABI {plugin.abi!r} of hop-by-hop routing, this routelab has ABI "
            f"{ABI}; {advice}"
        )
    proof = getattr(plugin, "proof", None)
    if proof not in get_args(Proof):
        yield f"expected proof to be one of {', '.join(get_args(Proof))}, found {proof!r}"


def abi_hint(error: BaseException) -> str:
    """Return a hint if a plugin could not import a name of hop-by-hop routing; otherwise "".

    Versions of the ABI differ in these names, so the plugin was probably written for another one.
    """
    if isinstance(error, ImportError) and error.name == hops.__name__:
        return (
            f"; this routelab has ABI {ABI} of hop-by-hop routing; adapt plugins for other ABIs "
            "(docs/concepts/hop-by-hop.md)"
        )
    return ""


def _parameter_problems(plugin: type[Plugin]) -> Iterator[str]:
    """Yield what is wrong with the Parameters of a plugin."""
    model = plugin.Parameters
    if not (isinstance(model, type) and issubclass(model, Parameters)):
        yield f"expected Parameters to be a subclass of routelab.api.Parameters, found {model!r}"
        return
    if not model.model_config.get("frozen"):
        yield "expected Parameters to be frozen, found it mutable"
    for problem in default_problems(model, {}):
        yield f"expected defaults that Parameters allows, found {problem}"


def _composition_problems(plugin: type[Composition]) -> Iterator[str]:
    """Yield what is wrong with the parts of a composition."""
    if isinstance(plugin.Parameters, type) and getattr(plugin.Parameters, "model_fields", None):
        yield (
            "expected no Parameters (a composition has those of its parts), found "
            + ", ".join(fields(plugin.Parameters))
        )
    for part in PARTS:
        text = getattr(plugin, part, None)
        if not isinstance(text, str):
            yield f"expected {part} to be the name of a {part} plugin, found {text!r}"
            continue
        try:
            parse_name(text)
        except InputError as error:
            yield f"expected {part} to be the name of a {part} plugin, found {error}"


def _kernel_problems(plugin: type[Plugin]) -> Iterator[str]:
    """Yield why the module ``kernels`` of a plugin's package cannot be imported, if it has one.

    A plugin that imports its kernels only when it runs would fail in the middle of a study.
    """
    package = plugin.__module__
    # only a package has a path
    if not hasattr(sys.modules.get(package), "__path__"):
        return
    kernels = f"{package}.kernels"
    if importlib.util.find_spec(kernels) is None:
        return
    try:
        with redirect_stdout(sys.stderr):
            importlib.import_module(kernels)
    except (Exception, SystemExit) as error:
        yield f"expected {kernels} to be importable, found {type(error).__name__}: {error}"


def composition_names(plugin: type[Composition]) -> dict[str, Name]:
    """Return the names of a composition's parts, by part, in the order of `PARTS`."""
    return {part: parse_name(getattr(plugin, part)) for part in PARTS}

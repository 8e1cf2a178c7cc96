"""The reference page of what is stable: the public Python API, artifact formats, entry points.

A test compares it with the code, so that no change of an interface goes unnoticed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, get_origin

from routelab.kernels import hops

MODULES = {
    "routelab": "For notebooks and scripts.",
    "routelab.api": "The contract between plugins and the core.",
    "routelab.toolkit": "Helpers for authors of plugins.",
    "routelab.metrics": "Loads and other properties of route tables.",
    "routelab.kernels.hops": "What compiled hop-by-hop functions get and call.",
    "routelab.testing": "Tests for authors of plugins.",
}

FORMATS = {
    "routelab.artifacts.topology_file": "network",
    "routelab.artifacts.routes_file": "route table",
    "routelab.artifacts.outcome": "outcome of a job",
    "routelab.artifacts.survey_table": "rows of a survey",
    "routelab.deadlock.certificate": "proof of a route table",
    "routelab.stages.engines.proofs": "proof of a hop-by-hop program",
    "routelab.bench.store": "measurement on a cluster",
    "routelab.bench.fabric.journal": "journal of a fabric's routing",
    "routelab.report.page.card": "`summary.json` of a report",
    "routelab.report.appendix.facts": "`appendix.json` of a report",
}
"""Modules with the constant ``FORMAT`` of an artifact, and what it is."""

INTERNAL = frozenset({"batch", "batch-outcomes", "fingerprint"})
"""Kinds of format that only the version that wrote them reads."""


def api_lines() -> Iterator[str]:
    """Return the lines of the page below its title."""
    yield from ("## Entry points", "", "A package adds plugins with these groups:", "")
    groups = {group for group in entry_points().groups if group.startswith("routelab.")}
    yield from (f"- `{group}`" for group in sorted(groups))
    yield from ("", "## Artifact formats", "", "| artifact | format |", "| --- | --- |")
    for name, meaning in FORMATS.items():
        yield f"| {meaning} | `{import_module(name).FORMAT}` |"
    yield ""
    yield from _abi_lines()
    for name, meaning in MODULES.items():
        module = import_module(name)
        yield from (f"## `{name}`", "", meaning, "")
        for public in _public_names(module):
            yield from _entry(public, getattr(module, public))


def _abi_lines() -> Iterator[str]:
    """Return the number of the hop-by-hop ABI and the arguments of both functions."""
    yield from ("## Hop-by-hop ABI", "", f"This is ABI {hops.ABI}. Functions take:", "")
    yield from ("| function | arguments | types | result |", "| --- | --- | --- | --- |")
    for name, signature in (("hop", hops.HOP), ("inject", hops.INJECT)):
        types = ", ".join(map(_machine_type, signature.args))
        result = _machine_type(signature.return_type)
        yield f"| `{name}` | `{hops._ARGUMENTS[name]}` | `{types}` | `{result}` |"
    yield ""


def _machine_type(type_: Any) -> str:
    if hasattr(type_, "ndim"):
        return f"{type_.dtype}[{', '.join(':' * type_.ndim)}]"
    return "function" if hasattr(type_, "get_call_type") else str(type_)


def _public_names(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", module.__name__) == module.__name__
        and not inspect.ismodule(value)
    ]
    return sorted(name for name in names if not name.startswith("_"))


def _entry(name: str, value: Any) -> Iterator[str]:
    function = getattr(value, "py_func", value)
    yield f"### `{name}`"
    yield ""
    origin = getattr(function, "__module__", "routelab")
    if not origin.startswith("routelab") and callable(function):
        yield from _code(f"from {origin.partition('.')[0]} import {function.__name__}")
    elif inspect.isclass(value):
        bases = [base.__name__ for base in value.__bases__ if base is not object]
        yield from _code(f"class {name}({', '.join(bases)})" if bases else f"class {name}")
        yield from _summary(value)
        members = list(_members(value))
        if members:
            yield from _code(*members)
    elif callable(function) and get_origin(value) is None and hasattr(function, "__name__"):
        yield from _code(f"{name}{_signature(function)}")
        yield from _summary(function)
    elif isinstance(value, (int, float, str, tuple, frozenset)):
        shown = sorted(value) if isinstance(value, frozenset) else value
        yield from _code(f"{name} = {shown!r}"[:200])


def _code(*lines: str) -> list[str]:
    return ["```python", *lines, "```", ""]


def _summary(value: Any) -> Iterator[str]:
    text = inspect.getdoc(value)
    if text:
        yield from (text.partition("\n\n")[0].replace("\n", " "), "")


def _members(owner: type) -> Iterator[str]:
    """Return public attributes and methods, with those of base classes of ours."""
    seen: set[str] = set()
    for base in owner.__mro__:
        if not base.__module__.startswith("routelab"):
            continue
        for name, annotation in inspect.get_annotations(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield f"{name}: {annotation if isinstance(annotation, str) else _name(annotation)}"
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            member = getattr(member, "__func__", member)
            if isinstance(member, property) or hasattr(member, "func"):
                getter = member.fget if isinstance(member, property) else member.func
                result = inspect.signature(getter).return_annotation
                yield f"{name}: {result if isinstance(result, str) else _name(result)}"
            elif inspect.isfunction(member):
                yield f"{name}{_signature(member)}"


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation))


class _Bare(str):
    """An annotation that is shown without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _signature(function: Any) -> str:
    signature = inspect.signature(function)
    parameters = [
        one.replace(annotation=_bare(one.annotation)) for one in signature.parameters.values()
    ]
    result = _bare(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=result))


def _bare(annotation: Any) -> Any:
    return _Bare(annotation) if isinstance(annotation, str) else annotation

"""The reference page of study files, made from their models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from routelab.api.engine import DEFAULT_ENGINES
from routelab.config.bench_settings import BenchSettings
from routelab.config.entries import Box, Range, Sweep, Systems, Use
from routelab.config.reference import Source
from routelab.config.study import ENGINES, Bound, Limits, Study, Survey
from routelab.config.views import Beside, Between, Figure, Relative, Table
from routelab.registry.engines import KEY, engine_class

_INTRODUCTION = """\
# Study files

<!-- Made by `make schema` from the models in src/routelab/config; edit those. -->

A study is a YAML file. `routelab study check FILE` tells all mistakes in it, each with its line,
`routelab study plan FILE` what a run would do. An editor with a YAML language server completes keys
and plugins when the file begins with the line

    # yaml-language-server: $schema=../schema/study.schema.json

`routelab study schema -o FILE` writes the schema with the plugins that are installed.
"""

_ENTRIES = """\
## Entries

An entry of `topologies`, `routings`, `traffic`, `workloads` or `benchmarks` is one of

- a [name](../concepts/names.md): `torus~dims=4x2`, `sssp@angara~turns=exact`;
- a plugin with parameters: `torus: {dims: 4x2}`. A parameter's value is a number, a word, a truth
  value or a list of them; several values to take one after the other are marked by `sweep`,
  `range` or `boxes`. An entry with several marked parameters stands for every combination;
- a name with an alias: `{use: "sssp@angara~turns=exact", as: exact}`. The alias stands in tables
  and figures, and names folders; it has one meaning in all studies that run together. In the same
  form a routing runs on some of the networks only: `{use: angara-genetic, on: {sample: 20}}`.

A name that contains a path needs an alias. If a name is longer than 150 bytes, its results folder
is named by the beginning of the name and a digest; outcomes and reports have the whole name. Files
that parameters name are searched for in the study's folder.
"""

_SWEEPS = """\
Simulations of `traffic` use these settings. `engine` names an [engine](../plugins.md#an-engine).
The other keys are its settings; the table lists those of `packet`. `routelab plugins show
engine/NAME` lists the settings of other engines.

A single value can be `{sweep: [2, 4]}`: there is then one simulation with each value. Several
sweeps mean every combination.
"""

_FLOWS = """\
Simulations of `workloads` use these settings, which the engines `flow` and `smpi` share. [The
machine](../concepts/machine.md) has its own page. `engine: {sweep: [flow, smpi]}` runs both
engines; the column `engine` distinguishes their rows. If SimGrid is not installed, rows of `smpi`
are unsupported.

A value can be a `sweep` as above, or one value for each workload: `{by: {LU: 6, MG: 4}}`; all other
workloads use the default. `machine: desmos` is `clusters/desmos.yaml` beside
the study's folder, or `config/clusters/desmos.yaml`; a placement's file is looked up in the study's
folder.
"""

_BENCH = """\
`benchmarks` are measured with these settings, all on one network in one allocation. A value can be
a `sweep` as above, but for `baseline`, `predict` and `minutes`, which change nothing that is
measured. `cluster: desmos` is `clusters/desmos.yaml` beside the study's folder, or
`config/clusters/desmos.yaml`. The routings are those with tables; there are as many hosts as the
network has terminals.
"""

_COLUMNS = """\
## Columns

`rows`, `values`, `on`, `where`, `x`, `y`, `hue` and `col` name columns. The
[list of columns](columns.md) has them by the rows that have them (`of`), with their meaning and
unit, and with what a study must ask for. `routelab study check` refuses all others. There are

- `topology` and `routing`, `traffic`, `workload` or `benchmark`: names or aliases, without the
  parameters that `over` pools;
- every parameter: `dims`, `seed`; where a network and a routing have one of the same name,
  `topology.seed` and `routing.seed`; of parts of a routing also `routing.selection.ties`;
- every setting of simulations and measurements, by its bare name and as `simulation.vcs`,
  `flow.ranks` or `bench.repeats`;
- the columns of the routing's table in rows of simulations and measurements, where it has one;
- with `relative`, for its column c, `relative_to`, `c_reference`, `c_ratio`, `c_gain` (by how many
  percent c is less), `c_group` (less, equal, greater) and `improvement_percent`: by how many
  percent there is more of c, or of its inverse unless more of c is known to be better.

With `of: routes`, `x: load` and `colour: load` show one row for each channel.

With `of: loads` a row is a simulation at one offered load, with `of: simulations` all of its loads
together. With `of: channels`, `terminals` or `latencies` a row is a channel, a terminal or as many
packets as had one latency, in a simulation at one load; `load` is the offered load there, and
`where: {load: 0.5}` chooses one. Channels have the place of the switch that they leave as `at_x`,
`at_y`, ... Terminals are left out where they have nothing to send (`offered`, `accepted`) or to get
(`received`).

With `of: flows` a row is a workload that was run on a network with a routing, with
`of: flow-channels` and `flow-ranks` one of its channels or ranks.

With `of: benchmarks` a row is what a benchmark measured on a network under a routing: one figure of
merit at one size of message, of all rounds that count. The interval of its median is a bootstrap
interval; `improvement_percent` compares it with the routing that `baseline` names.
"""

_SECTIONS: tuple[tuple[str, type[BaseModel]], ...] = (
    ("Sweep", Sweep),
    ("Range", Range),
    ("Boxes", Box),
    ("Alias", Use),
    ("On", Systems),
    ("Limits", Limits),
    ("Bound", Bound),
    ("Survey", Survey),
    ("Bench", BenchSettings),
    ("Tables", Table),
    ("Beside", Beside),
    ("Figures", Figure),
    ("Relative", Relative),
    ("Between", Between),
)


_BEHIND = {"simulation": _SWEEPS, "flow": _FLOWS}
"""Texts after the sections of keys that name an engine."""


def study_page() -> str:
    """Return the page, in Markdown."""
    parts = [_INTRODUCTION, section("Keys of a study", Study), _ENTRIES]
    for title, model in _SECTIONS:
        if model is BenchSettings:
            parts += [*map(_engine_section, ENGINES), section(title, model), _BENCH]
        else:
            parts.append(section(title, model))
    parts += [_COLUMNS, section("References: citation.yaml", Source)]
    return "\n".join(parts)


def _engine_section(key: str) -> str:
    """Return the section of a key that names an engine, with the settings of the default engine."""
    default = DEFAULT_ENGINES[ENGINES[key]]
    text = section(key.title(), engine_class(default).Parameters)
    head, line, rows = text.partition("| --- | --- | --- | --- |\n")
    row = f"| `{KEY}` | text | `{default}` | Engine plugin; the other keys are its settings |"
    return f"{head}{line}{row}\n{rows}\n{_BEHIND[key]}"


def section(title: str, model: type[BaseModel]) -> str:
    """Return a heading and a table of the keys of a model, in Markdown."""
    schema = model.model_json_schema()
    lines = [f"## {title}", "", (model.__doc__ or "").strip().splitlines()[0], ""]
    lines += ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
    required = schema.get("required", ())
    for key, part in schema["properties"].items():
        default = "has to be given" if key in required else _default(part.get("default"))
        settings = part.get("additionalProperties") is True
        value = f"[settings](#{key})" if settings else _value(part)
        cells = (f"`{key}`", value, default, part.get("description", ""))
        row = " | ".join(cell.replace("|", "/") for cell in cells)
        lines.append(f"| {row} |".replace("  ", " "))
    return "\n".join(lines) + "\n"


def _default(value: Any) -> str:
    if value in (None, {}, []):
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item:g}" for key, item in value.items())
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


_LINKS = {
    "Table": "[tables](#tables)",
    "Figure": "[figures](#figures)",
    "Limits": "[limits](#limits)",
    "Beside": "[beside](#beside)",
    "Named": "[entries](#entries)",
    "Use": "[entries](#entries)",
    "Between": "value, list of values or [between](#between)",
    "Relative": "[relative](#relative)",
    "Systems": "[on](#on)",
    "Bound": "[bound](#bound)",
    "Survey": "[survey](#survey)",
    "FabricChoice": "[fabric](#fabric)",
    "Published": "[machine](#machine)",
    "Assumed": "[machine](#machine)",
}
_SCALAR = ["boolean", "integer", "number", "string"]
_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "true or false"}


def _value(part: Mapping[str, Any]) -> str:
    """Return the permitted values, in words."""
    if "$ref" in part:
        return _LINKS[part["$ref"].rpartition("/")[2]]
    options = [option for name in ("anyOf", "oneOf") for option in part.get(name, ())]
    if options:
        known = [option for option in options if option.get("type") != "null"]
        if [option.get("type") for option in known] == _SCALAR:
            return "value"
        references = [option for option in known if "$ref" in option]
        return " or ".join(dict.fromkeys(_value(option) for option in references or known))
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if "prefixItems" in part:
        return f"list of two {_TYPES[part['prefixItems'][0]['type']]}s"
    if part["type"] == "array":
        return f"list of {_value(part['items'])}"
    if part["type"] == "object":
        return f"mapping of names: {_value(_below(part))}"
    if "pattern" in part:
        return "word of letters, digits, `-` and `_`"
    return f"{_TYPES[part['type']]} {_bounds(part)}".rstrip()


def _below(part: Mapping[str, Any]) -> Mapping[str, Any]:
    below: Mapping[str, Any] = part.get("additionalProperties") or next(
        iter(part["patternProperties"].values())
    )
    return below


def _bounds(part: Mapping[str, Any]) -> str:
    least = {"exclusiveMinimum": ">", "minimum": "≥"}
    # the largest integers are limits of the machine, not useful bounds
    most = {"exclusiveMaximum": "<", "maximum": "≤"} if part["type"] == "number" else {}
    signs = least | most
    return " and ".join(f"{sign} {part[key]}" for key, sign in signs.items() if key in part)

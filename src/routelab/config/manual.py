"""The reference page of study files, made from their models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from routelab.api.engine import DEFAULT_ENGINES
from routelab.config.bench_settings import BenchSettings
from routelab.config.entries import Box, Range, Sweep, Systems, Use
from routelab.config.headline import Headline
from routelab.config.reference import Source
from routelab.config.study import ENGINES, Bound, Limits, Study, Survey
from routelab.config.views import Beside, Between, Figure, Pivot, Relative, Table
from routelab.registry.engines import KEY, engine_class

_INTRODUCTION = """\
# Study files

<!-- Made by `make schema` from the models in src/routelab/config; edit those. -->

A study is a YAML file. `routelab study check FILE` reports all mistakes in it, each with its line.
`routelab study plan FILE` shows what a run would do. An editor with a YAML
language server completes keys and plugins if the file begins with the line

    # yaml-language-server: $schema=../schema/study.schema.json

`routelab study schema -o FILE` writes the schema with the plugins that are installed.
"""

_ENTRIES = """\
## Entries

An entry of `topologies`, `routings`, `traffic`, `workloads` or `benchmarks` is one of

- a [name](../concepts/names.md): `torus~dims=4x2`, `sssp@angara~turns=exact`;
- a plugin with parameters: `torus: {dims: 4x2}`. A value is a number, a word, a truth value or a
  list of them. `sweep`, `range` and `boxes` mark several values to take one after the other. An
  entry with several marked parameters stands for every combination;
- a name with an alias: `{use: "sssp@angara~turns=exact", as: exact}`. Tables, figures and folders
  show the alias. It has one meaning in all studies that run together. The same form limits a
  routing to some of the networks: `{use: angara-genetic, on: {sample: 20}}`.

A name that contains a path needs an alias. If a name is longer than 150 bytes, its results folder
is named by the beginning of the name and a digest; outcomes and reports have the whole name.
Parameters name files relative to the study's folder.
"""

_SWEEPS = """\
Simulations of `traffic` use these settings. `engine` names an [engine](../plugins.md#an-engine).
The other keys are its settings; the table lists those of `packet`. `routelab plugins show
engine/NAME` lists the settings of other engines.

A single value can be `{sweep: [2, 4]}`, which makes a simulation with each value. Several sweeps
make every combination.
"""

_FLOWS = """\
Simulations of `workloads` use these settings, which the engines `flow` and `smpi` share. [The
machine](../concepts/machine.md) has its own page. `engine: {sweep: [flow, smpi]}` runs both
engines; the column `engine` distinguishes their rows. If SimGrid is not installed, rows of `smpi`
are unsupported.

A value can be a `sweep` as above, or one value for each workload: `{by: {LU: 6, MG: 4}}`; all other
workloads use the default. `machine: desmos` names `clusters/desmos.yaml` next to the study's
folder, or `config/clusters/desmos.yaml`. The file of a placement is relative to the study's folder.
"""

_BENCH = """\
These settings apply to all `benchmarks`, which are measured on one network in one allocation. A
value can be a `sweep` as above, except for `baseline`, `predict` and `minutes`, which do not change
what is measured. `cluster: desmos` names `clusters/desmos.yaml` next to the study's folder, or
`config/clusters/desmos.yaml`. The routings must have route tables. The number of hosts is the
number of terminals of the network.
"""

_COLUMNS = """\
## Columns

The keys `rows`, `values`, `pivot`, `on`, `where`, `x`, `y`, `hue` and `col` name columns. The
[list of columns](columns.md) is sorted by the kind of row (`of`). It has their meaning and unit,
and the setting that a study needs. `routelab study check` rejects all other names. There are

- `topology` and `routing`, `traffic`, `workload` or `benchmark`: names or aliases, without the
  parameters that `over` pools;
- every parameter: `dims`, `seed`. If a network and a routing both have it, write `topology.seed` or
  `routing.seed`; for parts of a routing, `routing.selection.ties`;
- every setting of simulations and measurements, as a bare name or as `simulation.vcs`,
  `flow.ranks` or `bench.repeats`;
- the columns of the route table in rows of simulations and measurements, if the routing has one;
- with `relative`, the columns `relative_to` and `improvement_percent`, and for its column c
  `c_reference`, `c_ratio`, `c_gain` (reduction of c in percent) and `c_group` (less, equal,
  greater). `improvement_percent` is the increase of c in percent, or of its inverse unless larger
  values of c are known to be better.

The key `of` selects the kind of row:

- `of: routes`: a routing on a network; with `x: load` or `colour: load` a channel;
- `of: loads`: a simulation at one offered load;
- `of: simulations`: all loads of a simulation;
- `of: channels`: a channel in a simulation at one load;
- `of: terminals`: a terminal in a simulation at one load;
- `of: latencies`: all packets with one latency in a simulation at one load;
- `of: flows`: a workload on a network with a routing;
- `of: flow-channels`: a channel of such a run;
- `of: flow-ranks`: a rank of such a run;
- `of: flow-pairs`: a pair of terminals that exchange messages in such a run;
- `of: benchmarks`: a figure of merit at one message size, over all rounds that count.

In rows of channels, terminals and latencies, `load` is the offered load, and `where: {load: 0.5}`
selects one. The position of the switch that a channel leaves is `at_x`, `at_y`, ... A terminal that
sends nothing has no `offered` and `accepted`; one that receives nothing has no `received`.

In rows of benchmarks, the interval of the median is a bootstrap interval. `improvement_percent`
compares with the routing that `baseline` names.
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
    ("Headline", Headline),
    ("Tables", Table),
    ("Pivot", Pivot),
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
        default = "required" if key in required else _default(part.get("default"))
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
        given = {key: item for key, item in value.items() if item not in (None, {})}
        return ", ".join(f"{key} {item:g}" for key, item in given.items())
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


_LINKS = {
    "Table": "[tables](#tables)",
    "Figure": "[figures](#figures)",
    "Headline": "[headline](#headline)",
    "Limits": "[limits](#limits)",
    "Pivot": "[pivot](#pivot)",
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

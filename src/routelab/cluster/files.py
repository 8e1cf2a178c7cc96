"""The available clusters and the content of their files, with their schema."""

from __future__ import annotations

import json
import shlex
from typing import Any

from routelab.api import InputError
from routelab.study.cluster.fabric import FabricCommands
from routelab.study.cluster.jobs import host_names
from routelab.study.cluster.json_schema import cluster_schema
from routelab.study.cluster.keys import CLUSTERS, Cluster, load_cluster, require_cluster
from routelab.study.cluster.machine import Origin

COLUMNS = ("name", "title", "topology", "nodes", "launcher", "wrong")


def clusters() -> list[tuple[str, ...]]:
    """Return a row for each cluster's file, with the columns `COLUMNS`, sorted by name.

    A wrong file has only its name and, in the last column, the first line of the error.
    """
    rows: list[tuple[str, ...]] = []
    for path in sorted(CLUSTERS.glob("*.yaml")):
        try:
            cluster = load_cluster(path).cluster
        except InputError as error:
            rows.append((path.stem, "", "", "", "", str(error).partition("\n")[0]))
            continue
        # A file may give the number of nodes, or list the hosts, or neither.
        nodes = str(cluster.nodes or len(cluster.all_hosts) or "")
        title, topology = cluster.name or "", cluster.topology or ""
        rows.append((path.stem, title, topology, nodes, cluster.launcher, ""))
    return rows


def cluster_rows(name: str) -> list[tuple[str, str]]:
    """Return the content of a cluster's file as keys and values.

    Raises
    ------
    InputError
        If the file does not exist or is invalid.
    """
    file = load_cluster(require_cluster(name, word="cluster"))
    cluster = file.cluster
    rows = [("file", str(file.path))]
    for key in Cluster.model_fields:
        value = getattr(cluster, key)
        has_own_rows = key in ("machine", "hosts", "node_sets")
        if has_own_rows or value in (None, [], {}):
            continue
        if isinstance(value, FabricCommands):
            value = value.model_dump(exclude_defaults=True)
        if isinstance(value, dict):
            rows += [(f"{key}.{subkey}", _value_text(item)) for subkey, item in value.items()]
        else:
            rows.append((key, _value_text(value)))
    # The rows of `hosts`, `node_sets` and `machine` differ from the file: lists such as n[01-04]
    # are written out, and a value of the machine gets its origin.
    rows.append(("hosts", " ".join(cluster.all_hosts) or "this machine"))
    rows += [
        (f"node_sets.{topology}", " ".join(host_names(hosts)))
        for topology, hosts in cluster.node_sets.items()
    ]
    return rows + [
        (f"machine.{field}", _origin_text(origin)) for field, origin in file.origins.items()
    ]


def _value_text(value: Any) -> str:
    """Return a value in one line; a list as words for a shell."""
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)


def _origin_text(origin: Origin) -> str:
    """Return a value of the machine with where it is from, e.g. ``12, assumed, 10 to 14``."""
    value = str(origin.value).lower() if isinstance(origin.value, bool) else f"{origin.value:g}"
    if origin.range is not None:
        low, high = origin.range
        return f"{value}, assumed, {low:g} to {high:g}"
    return f"{value}, from {origin.source}" if origin.source else value


def cluster_schema_text() -> str:
    """Return the JSON schema of cluster files."""
    return json.dumps(cluster_schema(), indent=2, ensure_ascii=False) + "\n"

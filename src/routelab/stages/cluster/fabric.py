"""Checks whether the routing of a cluster's fabric can be switched, without switching it."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from routelab.api import FabricJob, FabricPlugin, RoutelabError, Topology
from routelab.bench.fabric import files as rendered
from routelab.bench.fabric.switching import LoggedSwitch
from routelab.deadlock import check_table
from routelab.registry.instances import load_routing
from routelab.stages.chain import reroute
from routelab.stages.cluster.answers import ClusterCheck, State, query_system

ROUTING = "dor"
"""Default routing: it supports every grid, and is fast."""

_WITH_VALUE = ("-u", "--user", "-g", "--group")


class _Recorder:
    """A switch that records commands and runs none."""

    dry = True

    def __init__(self) -> None:
        self.commands: list[list[str]] = []

    def run(self, arguments: Sequence[str], seconds: float) -> str:
        self.commands.append(list(arguments))
        return ""


def check_fabric(
    fabric: FabricPlugin,
    network: tuple[str, Topology] | None,
    hosts: tuple[str, ...],
    routing: str | None,
) -> list[ClusterCheck]:
    """Check the requirements of a fabric plugin, and whether its commands are allowed.

    Parameters
    ----------
    fabric : FabricPlugin
    network : tuple of str and Topology, or None
        Instance name and network; None if unknown.
    hosts : tuple of str
        Of its terminals.
    routing : str or None
        Instance name; None: files of its routes are not checked.
    """
    what = f"fabric {fabric.name}"
    if not fabric.changes:
        return [ClusterCheck(what, "ok", "the routing of the fabric is not changed")]
    if network is None:
        return [
            ClusterCheck(what, "cannot tell", "no network is named", "name one: --topology NAME")
        ]
    try:
        table = reroute(load_routing(routing or ROUTING), network[1])
    except RoutelabError as error:
        state: State = "missing" if routing else "cannot tell"
        return [
            ClusterCheck(
                what, state, f"{routing or ROUTING}: {error}", "choose another --routing NAME"
            )
        ]
    with tempfile.TemporaryDirectory(prefix="routelab-") as folder:
        job = FabricJob(routing or ROUTING, table, hosts, Path(folder), network[0])
        problems = rendered.fabric_problems(fabric, job) if routing else fabric.problems(job)
        checks = [ClusterCheck(what, "missing", text) for text in problems]
        verdict = check_table(table) if routing else None
        if verdict is not None and not verdict.proven:
            found = f"{routing} is not proven free of deadlock and is not applied: {verdict.reason}"
            checks.append(
                ClusterCheck(what, "missing", found, "choose another routing, or one with layers")
            )
        checks += _rights(fabric, job, what)
        if all(check.state == "ok" for check in checks):
            checks += _run_own_check(fabric, job, what, with_files=routing is not None)
    return checks


def _run_own_check(
    fabric: FabricPlugin, job: FabricJob, what: str, *, with_files: bool
) -> list[ClusterCheck]:
    """Run the fabric's own check, which changes nothing."""
    if not with_files and fabric.export:
        fix = "add --routing NAME: its files are written, and the site's check is run"
        return [ClusterCheck(what, "cannot tell", "no routing is named", fix)]
    try:
        rendered.write_fabric_files(fabric, job)
        fabric.check(job, LoggedSwitch(Path(os.devnull)))
    except RoutelabError as error:
        text = " ".join(str(error).split())
        return [ClusterCheck(f"{what}: check", "missing", text, "ask the fabric's administrators")]
    return [ClusterCheck(f"{what}: check", "ok", "nothing is missing")]


def _rights(fabric: FabricPlugin, job: FabricJob, what: str) -> list[ClusterCheck]:
    """Check whether this user may run the commands that begin with sudo."""
    recorder = _Recorder()
    try:
        fabric.apply(job, recorder)
        fabric.restore(job, recorder)
    except RoutelabError as error:
        return [ClusterCheck(what, "missing", str(error))]
    checks = []
    for command in recorder.commands:
        if Path(command[0]).name == "sudo" and shutil.which(command[0]):
            query = [command[0], "-n", "-l", *_without_options(command[1:])]
            shown = shlex.join(command)
            answer = query_system(query)
            if answer.code == 0:
                checks.append(ClusterCheck(f"{what}: rights", "ok", f"sudo allows {shown}"))
            else:
                fix = "allow it without a password (sudoers: NOPASSWD)"
                found = f"sudo does not allow {shown}: {answer.reason}"
                checks.append(ClusterCheck(f"{what}: rights", "missing", found, fix))
    return checks


def _without_options(arguments: Sequence[str]) -> Iterator[str]:
    """Iterate over sudo's arguments without its options, except the user of the command."""
    left = list(arguments)
    while left and left[0].startswith("-"):
        word = left.pop(0)
        if word == "--":
            break
        if word in _WITH_VALUE and left:
            yield word
            yield left.pop(0)
        elif word.partition("=")[0] in _WITH_VALUE:
            yield word
    yield from left

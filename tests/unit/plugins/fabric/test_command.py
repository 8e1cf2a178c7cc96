"""The fabrics `none` and `command`: what is run, with which arguments, and what is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from routelab.api import FabricJob
from routelab.bench.fabric.files import fabric_problems
from routelab.registry.instances import load, load_routing
from routelab.stages.chain import apply_routing
from routelab.toolkit import build_grid
from routelab_plugins.fabric.command import CommandFabric
from routelab_plugins.fabric.none import NoFabric

HOSTS = ("a", "b")


class Recorder:
    """A switch that notes what it is asked to run."""

    dry = True

    def __init__(self):
        self.ran = []

    def run(self, arguments, seconds):
        self.ran.append((list(arguments), seconds))
        return ""


@cache
def table(dims=(2,), routing="angara-sssp"):
    return apply_routing(build_grid("torus", dims, wrap=True), load_routing(routing)).table


def job(hosts=HOSTS, topology="torus~dims=2", folder=Path("/work dir/$(id)"), **more):
    return FabricJob("sssp@angara", more.get("table", table()), hosts, folder, topology)


def ran(arguments, **more):
    switch = Recorder()
    plugin = CommandFabric(apply=arguments, restore=["false"], seconds=7)
    plugin.apply(job(**more), switch)
    ((found, seconds),) = switch.ran
    assert seconds == 7
    return found


def test_each_placeholder_stands_inside_one_argument():
    assert ran(["/opt/apply", "--in={folder}", "{routing}", "{hosts}", "x{topology}y"]) == [
        "/opt/apply",
        "--in=/work dir/$(id)",
        "sssp@angara",
        "a,b",
        "xtorus~dims=2y",
    ]
    # braces that are meant; what is put in is not looked at again
    assert ran(["a", "{{folder}}", "{{{folder}}}", "{routing}{routing}"]) == [
        "a",
        "{folder}",
        "{/work dir/$(id)}",
        "sssp@angarasssp@angara",
    ]
    assert ran(["a", "{hosts}"], hosts=("{folder}", "c; d"))[1] == "{folder},c; d"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))))
def test_any_text_is_one_argument(arguments):
    escaped = [text.replace("{", "{{").replace("}", "}}") for text in arguments]
    assert ran(["program", *escaped]) == ["program", *arguments]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["a", "{host}"],
            "there is no placeholder {host}, only {folder}, {routing}, {hosts}, {top",
        ),
        (["a", "{}"], "there is no placeholder {}, only"),
        (["a", "{folder!r}"], "there is no placeholder {folder!r}, only"),
        (["a", "{folder:>9}"], "there is no placeholder {folder:>9}, only"),
        (["a", "{folder.name}"], "there is no placeholder {folder.name}, only"),
        (["a", "{folder[0]}"], "there is no placeholder {folder[0]}, only"),
        (["a", "{folder"], "'{folder' has a single brace; write {{ or }} for one that is meant"),
        (["a", "}"], "'}' has a single brace"),
        (["a", "b\0"], "has a null character"),
        (["", "b"], "the program (first item) is empty"),
        (["a", 3], "3 is not text; put it in quotes, '3'"),
        (["a", True], "True is not text"),
        ([], "at least 1 item"),
        (7, "valid tuple"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments, said):
    with pytest.raises(ValidationError) as told:
        CommandFabric(apply=arguments, restore=["true"])
    assert said in str(told.value)


def test_restore_runs_its_own_command():
    switch = Recorder()
    plugin = CommandFabric(apply=["on"], restore=["off", "{routing}"])
    plugin.restore(job(), switch)
    assert [arguments for arguments, _ in switch.ran] == [["off", "sssp@angara"]]


def test_what_is_missing_is_told_beforehand(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    plugin = CommandFabric(
        apply=[str(plain), "{topology}"],
        restore=[str(tmp_path / "none"), "{hosts}"],
    )
    assert plugin.problems(job(hosts=(), topology="")) == [
        f"apply: {plain} cannot be executed; run chmod +x on it, or put its interpreter first",
        "apply: {topology} is empty, because the network has no name",
        f"restore: program {tmp_path / 'none'} does not exist",
        "restore: {hosts} is empty, because the cluster lists no hosts",
    ]
    plain.chmod(0o755)
    good = CommandFabric(apply=[str(plain)], restore=["true"])
    assert good.problems(job()) == []
    assert good.problems(job(hosts=("a",))) == ["there are 1 hosts and 2 terminals"]
    # a folder of that name is no program
    assert CommandFabric(apply=[str(tmp_path)], restore=["true"]).problems(job()) == [
        f"apply: program {tmp_path} does not exist"
    ]


def test_routes_that_no_file_can_hold_are_told_beforehand():
    wrong = job(hosts=(), table=table((4, 4), "dor"))
    (said,) = fabric_problems(CommandFabric(apply=["true"], restore=["true"]), wrong)
    assert said.startswith("angara: the route from 0.0 to 2.1 is not an Angara route: -X before +Y")
    # another format has room for them
    assert (
        fabric_problems(CommandFabric(apply=["true"], restore=["true"], export="booksim"), wrong)
        == []
    )
    assert fabric_problems(CommandFabric(apply=["true"], restore=["true"], export=""), wrong) == []


def test_none_does_nothing():
    switch = Recorder()
    plugin = load("fabric", "none")
    assert isinstance(plugin, NoFabric)
    for act in (plugin.apply, plugin.restore):
        act(job(), switch)
    assert switch.ran == []
    assert not plugin.changes
    assert plugin.export == ""
    assert CommandFabric(apply=["a"], restore=["a"]).changes

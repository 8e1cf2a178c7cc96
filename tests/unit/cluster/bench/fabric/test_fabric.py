"""The commands of a fabric: what is run, with which arguments, and what is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from routelab.cluster.bench.fabric.fabric import Fabric, FabricJob
from routelab.routing.routing import Routing
from routelab.study.cluster.fabric import FabricCommands
from routelab.toolkit import build_grid

HOSTS = ("a", "b")


def commands(**arguments):
    return Fabric(FabricCommands(**arguments))


@cache
def table(dims=(2,), routing="angara-sssp"):
    return Routing.from_name(routing).table(build_grid("torus", dims, wrap=True))


def job(hosts=HOSTS, topology="torus~dims=2", folder=Path("/work dir/$(id)"), **more):
    return FabricJob("sssp@angara", more.get("table", table()), hosts, folder, topology)


def ran(arguments, **more):
    noted = []
    fabric = commands(apply=arguments, restore=["false"], seconds=7)
    fabric.apply(job(**more), lambda *call: noted.append(call))
    ((command, seconds),) = noted
    assert seconds == 7
    return command


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
        (["a", 3], "valid string"),
        ("/opt/apply {folder}", "is text; write a list: [program, argument, ...]"),
        ([], "at least 1 item"),
        (7, "valid list"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments, said):
    with pytest.raises(ValidationError) as raised:
        commands(apply=arguments, restore=["true"])
    assert said in str(raised.value)


def test_missing_programs_and_values_are_reported_beforehand(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    fabric = commands(
        apply=[str(plain), "{topology}"],
        restore=[str(tmp_path / "none"), "{hosts}"],
    )
    assert fabric.problems(job(hosts=(), topology="")) == [
        f"apply: program {plain} is not found or not executable",
        f"restore: program {tmp_path / 'none'} is not found or not executable",
        "apply: {topology} is empty, because the network has no name",
        "restore: {hosts} is empty, because the cluster lists no hosts",
    ]
    plain.chmod(0o755)
    good = commands(apply=[str(plain)], restore=["true"])
    assert good.problems(job()) == []
    assert good.problems(job(hosts=("a",))) == ["there are 1 hosts and 2 terminals"]
    # a folder of that name is no program
    assert commands(apply=[str(tmp_path)], restore=["true"]).problems(job()) == [
        f"apply: program {tmp_path} is not found or not executable"
    ]

"""What users get wrong on the command line: one message, its place and its mend, exit code 2."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from routelab.artifacts.array_files import read_arrays, write_arrays
from routelab.cli import main


@pytest.fixture
def refused(capfd):
    """Run a command that has to fail with code 2, and return its message."""

    def run(*arguments) -> str:
        assert main(list(map(str, arguments))) == 2
        printed = capfd.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("routelab: error: ")
        assert "Traceback" not in printed.err
        return printed.err

    return run


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ("1x4", "every dimension must be at least 2, got 1x4; leave out those of size 1"),
        ("4x1", "every dimension must be at least 2, got 4x1"),
        ("0", "every dimension must be at least 2, got 0"),
        ("-4", "'-4' is not a list of dimensions; write them as 4x2x2"),
        ("four", "'four' is not a list of dimensions; write them as 4x2x2"),
        ("4x", "'4x' is not a list of dimensions"),
        ("4,2", "bad name: expected '=' and a value for parameter '2'"),
        ("2000x2000", "2000x2000 has 4000000 switches, the limit is 1000000"),
    ],
)
@pytest.mark.parametrize("family", ["torus", "mesh"])
def test_dimensions(refused, family, dims, message):
    assert message in refused("topology", f"{family}~dims={dims}")


@pytest.mark.parametrize(
    ("topology", "routing", "message"),
    [
        ("torsu~dims=4", "dor", "no topology plugin is called 'torsu'; did you mean 'torus'?"),
        ("torus~dim=4", "dor", "unknown parameter 'dim'; did you mean 'dims'?"),
        ("torus~dims=4", "dorr", "no routing plugin is called 'dorr'; did you mean 'dor'?"),
        ("torus~dims=4", "dor~odrer=natural", "unknown parameter 'odrer'; did you mean 'order'?"),
        ("torus~dims=4", "ssp@angara", "no selection plugin is called 'ssp'; did you mean 'sssp'?"),
        ("torus~dims=4", "sssp", "a selection makes a routing as sssp@RULES"),
        ("torus", "dor", "parameter 'dims' is required"),
    ],
)
def test_unknown_plugins_and_parameters(refused, topology, routing, message):
    assert message in refused("evaluate", topology, routing)


@pytest.mark.parametrize("text", ["dor;ls", "dor\n", "../dor", "$(touch pwned)", "dor|cat", "a b"])
def test_names_that_a_shell_would_take_apart(refused, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    message = refused("evaluate", "torus~dims=4", text)
    assert "bad name: " in message
    assert "^" in message
    assert list(tmp_path.iterdir()) == []


DISCONNECTED = "torus~dims=4x2,failed_links=0-2+1-3+4-6+5-7"
"""Rings of four cut twice: switches 0.0 to 1.1 without the links along X that join them."""


def test_a_network_that_has_fallen_apart_names_its_parts(capfd):
    assert main(["topology", DISCONNECTED, "--format", "json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert facts["connected_parts"] == 2
    assert facts["parts"] == "4 switches with 0.0, 4 switches with 1.0"


@pytest.mark.parametrize("routing", ["dor", "angara-sssp", "dfsssp", "sssp@up-down"])
def test_pairs_between_parts_have_no_route(capfd, routing):
    assert main(["evaluate", DISCONNECTED, routing]) == 0
    printed = capfd.readouterr().out
    assert "the network is not connected: 4 switches with 0.0, 4 switches with 1.0" in printed
    # 8 × 7 pairs, of which 2 × 4 × 3 within a part
    assert f"{routing}: 32 of 56 pairs have no route" in printed


def test_many_parts_are_counted_and_some_named(capfd, tmp_path):
    nodes = "".join(f"<node id='n{i}'/>" for i in range(9))
    file = tmp_path / "isolated.graphml"
    file.write_text(
        f"<graphml><graph edgedefault='undirected'>{nodes}"
        "<edge source='n3' target='n4'/></graph></graphml>"
    )
    assert main(["topology", f"graph~file={file}"]) == 0
    printed = capfd.readouterr().out
    named = "2 switches with n3, 1 switch with n0, 1 switch with n1, 1 switch with n2"
    assert f"{named}, 1 switch with n5 and 3 more" in printed
    assert main(["evaluate", f"graph~file={file}", "dfsssp"]) == 0
    assert "dfsssp: 70 of 72 pairs have no route" in capfd.readouterr().out


def test_graphml_with_loops_and_duplicates(refused, capfd, tmp_path):
    file = tmp_path / "net.graphml"

    def write(inside):
        file.write_text(f"<graphml>\n<graph>\n{inside}\n</graph></graphml>")

    nodes = "<node id='a'/><node id='b'/>"
    write(f"{nodes}<edge source='a' target='a'/><edge source='a' target='b'/>")
    assert main(["topology", f"graph~file={file}", "--format", "json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert (facts["channels"], facts["self_loops_dropped"]) == (2, 1)
    message = refused("topology", f"graph~file={file},self_loops=refuse")
    assert "line 3: an edge joins node 'a' to itself; remove it or set self_loops=drop" in message

    write(f"{nodes}\n<node id='a'/>")
    message = refused("evaluate", f"graph~file={file}", "dfsssp")
    assert f"{file}, line 4: node 'a' was already named at {file}, line 3" in message
    assert "give every node a unique name" in message

    write(nodes + "<edge source='a' target='b'/>" * 2)
    message = refused("topology", f"graph~file={file}")
    assert "the link between 'a' and 'b' was already listed at" in message
    assert "set repeats=parallel if there are two links" in message

    # parallel links with ids of their own are links
    write(nodes + "".join(f"<edge id='{i}' source='a' target='b'/>" for i in range(2)))
    assert main(["topology", f"graph~file={file}", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["channels"] == 4


def test_xml_bombs_are_refused(refused, tmp_path):
    entities = "".join(
        f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha" * 100}">' for i in range(9)
    )
    file = tmp_path / "bomb.graphml"
    file.write_text(
        f"<!DOCTYPE graphml [{entities}]><graphml><key id='l' for='node' attr.name='label'/>"
        "<graph><node id='a'><data key='l'>&e8;</data></node></graph></graphml>"
    )
    assert "not well-formed XML: limit on input amplification" in refused(
        "topology", f"graph~file={file}"
    )


@pytest.fixture
def network(tmp_path):
    folder = tmp_path / "net"
    assert main(["topology", "torus~dims=4", "-o", str(folder)]) == 0
    return folder


def rewrite(file: Path, **changes):
    metadata, arrays = read_arrays(file, "topology/1", ())
    write_arrays(file, metadata | changes, arrays)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-30]), "is damaged"),
        (lambda file: file.write_bytes(b""), "is damaged"),
        (lambda file: file.unlink(), "No such file"),
        (lambda file: np.savez(file, a=np.arange(3)), "was not written by routelab"),
        (lambda file: rewrite(file, format="topology/2"), "a newer routelab wrote it"),
        (lambda file: rewrite(file, format="routes/1"), "give a file of that format"),
        (lambda file: rewrite(file, num_switches=3), "names a switch outside 0..2"),
    ],
    ids=["truncated", "empty", "missing", "foreign", "too new", "other kind", "inconsistent"],
)
def test_damaged_networks(refused, network, tmp_path, damage, message):
    file = network / "topology.npz"
    damage(file)
    for command in (
        ("topology", network),
        ("topology", file),
        ("evaluate", network, "dor"),
        ("route", network, "dor", "-o", tmp_path / "out"),
    ):
        told = refused(*command)
        assert message in told
        assert str(file) in told
        if network in command:
            assert f"remove the folder {network} and run again" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": "outcome/9"}', "a newer routelab wrote it; update routelab"),
        ('{"format": "outcome/1"', "is damaged or not JSON"),
        ("hello", "is damaged or not JSON"),
        ('{"format": "figures/1"}', "expected format outcome/1, found figures/1"),
    ],
)
def test_damaged_outcomes(refused, network, content, message):
    (network / "outcome.json").write_text(content)
    told = refused("evaluate", network, "dor")
    assert message in told
    assert str(network / "outcome.json") in told


@pytest.mark.usefixtures("default_signals")
def test_an_interrupt_is_heeded_inside_a_kernel(tmp_path):
    # a selection that takes minutes on this network, in one kernel
    command = [sys.executable, "-m", "routelab", "evaluate", "torus~dims=12x12x12"]
    with (tmp_path / "out").open("w+") as out:
        process = subprocess.Popen(
            [*command, "p2-sssp@up-down"], stdout=out, stderr=out, start_new_session=True
        )
        deadline = time.monotonic() + 120
        # the kernel is at work when the last descendant has used some seconds of processor time
        while time.monotonic() < deadline:
            assert process.poll() is None
            with suppress(OSError):  # a process may end between two looks
                if processor_seconds(last_descendant(process.pid)) > 4:
                    break
            time.sleep(0.1)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert time.monotonic() - began < 10
        out.seek(0)
        assert out.read() == "routelab: interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def last_descendant(pid: int) -> int:
    """The process that works: all others above it wait for their only child."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return last_descendant(int(children[0])) if children else pid


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_all_that_is_wrong_is_told_at_once(refused):
    for arguments in (
        ["evaluate", "tours~dims=3", "nope"],
        ["route", "tours~dims=3", "nope"],
        ["bound", "tours~dims=3", "nope"],
    ):
        said = refused(*arguments)
        assert "'tours'" in said
        assert "'nope'" in said
    said = refused(
        "route", "torus~dims=3", "nope", "--metrics", "load+effective-bisection~samples=1"
    )
    assert "'nope'" in said
    assert "'load'" in said
    assert "samples=1" in said


@pytest.mark.parametrize(
    "arguments", [["bound", "torus~dims=3"], ["route", "torus~dims=3", "dor", "-o", "folder"]]
)
@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "long"])
def test_limits_are_numbers_above_0(capfd, tmp_path, monkeypatch, arguments, seconds):
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--seconds", seconds]) == 2
    assert f"argument --seconds: '{seconds}' is not a number above 0" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(refused):
    assert "cannot write /proc/x" in refused("topology", "torus~dims=3", "-o", "/proc/x")


@pytest.mark.parametrize(
    "text", ["seed=9223372036854775808", "sweeps=1000000001", "effort=inf", "effort=1e300"]
)
def test_numbers_that_compiled_code_cannot_hold(refused, text):
    assert text.split("=")[0] in refused("evaluate", "torus~dims=3x3", f"balanced~{text}@up-down")

"""Input that is wrong ends with exit code 2 and one message."""

from __future__ import annotations

import json

import pytest

from routelab.cli import main

TORUS = "torus~dims=4x2"


def code_of(*command: str) -> int:
    try:
        return main(list(command))
    except SystemExit as end:  # argparse
        return int(end.code or 0)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("evaluate", TORUS, "dor", "--metrics", ""), "--metrics ''"),
        (("evaluate", TORUS, "dor", "--metrics", "+"), "a name is empty"),
        (("route", TORUS, "dor", "--metrics", "channel-load++route-length"), "a name is empty"),
        (("route", TORUS, "dor", "--metrics", ""), "a name is empty"),
        (("topology", f"{TORUS},failed_switches=1++2"), "has an empty item"),
        (("simulate", TORUS, "dor", "uniform", "--load", "0.1+"), "has an empty item"),
        (("topology", "torus~dims=\u0664x2"), "not a list of dimensions"),
        (("topology", f"{TORUS},fail_links=1_0"), "'1_0' is not a number"),
        (("topology", f"{TORUS},fail_links=+3"), "'+3' is not a number"),
        (("topology", f"{TORUS},failed_links=\u0660-1"), "is not a link"),
        (("evaluate", TORUS, "dor", "--bound", "--bound-seconds", "1_0"), "0 to 9"),
        (("workload", "tornado", "--ranks", "\u0664"), "0 to 9"),
        (("topology", f"{TORUS},failed_links=0-1+1-0"), "the link 1-0 is listed twice"),
        (("topology", f"{TORUS},failed_switches=0+0"), "switch 0 is listed twice"),
        (("topology", f"{TORUS},nodes=0+1+0"), "switch 0 is listed twice"),
        (
            ("simulate", TORUS, "dor", "hotspot~spots=99", "--load", "0.1"),
            "terminal 99 does not exist",
        ),
        (("simulate", TORUS, "dor", "tornado~shift=1x1x1", "--load", "0.1"), "3 dimensions"),
    ],
)
def test_wrong_input_is_refused(capfd, command, message):
    assert code_of(*command) == 2
    printed = capfd.readouterr()
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_a_switch_that_does_not_exist_is_wrong_input(capfd):
    command = ("evaluate", TORUS, "sssp@up-down~root=nope", "dor", "--format", "json")
    assert code_of(*command) == 2
    bad, good = json.loads(capfd.readouterr().out)
    assert (bad["status"], bad["wrong_input"], good["status"]) == ("unsupported", True, "ok")


def test_a_routing_that_does_not_apply_is_no_wrong_input(capfd):
    assert code_of("evaluate", "mesh~dims=3x3", "valiant") == 1


REPEATS = {
    "net.txt": "a b\nb c\na b 3\n",
    "back.txt": "a b\nb a\n",
    "net.csv": "source,target,capacity\na,b,2\na,b,2\n",
    "ports.csv": "source,target,source_port,target_port\na,b,1,2\nb,a,2,1\n",
    "net.json": json.dumps(
        {"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1}] * 2}
    ),
}


@pytest.mark.parametrize("name", REPEATS)
def test_a_link_is_listed_once(tmp_path, capfd, name):
    file = tmp_path / name
    file.write_text(REPEATS[name])
    assert code_of("topology", f"graph~file={file}") == 2
    assert "was already listed at" in capfd.readouterr().err
    assert code_of("topology", f"graph~file={file},repeats=parallel", "--format", "json") == 0
    assert json.loads(capfd.readouterr().out)["channels"] >= 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ports.csv", "source,target,source_port,target_port\na,b,1,1\na,b,2,2\n"),
        ("speeds.csv", "source,target,capacity\na,b,1\na,b,2\n"),
        ("net.json", REPEATS["net.json"].replace("{", '{"multigraph": true, ', 1)),
    ],
)
def test_parallel_links_that_the_file_distinguishes_are_links(tmp_path, capfd, name, text):
    file = tmp_path / name
    file.write_text(text)
    assert code_of("topology", f"graph~file={file}", "--format", "json") == 0
    assert json.loads(capfd.readouterr().out)["channels"] == 4


def test_both_channels_of_a_link_may_be_listed(tmp_path, capfd):
    file = tmp_path / "net.txt"
    file.write_text("a b\nb a\n")
    command = ("topology", f"graph~file={file},directed=true", "--format", "json")
    assert code_of(*command) == 0
    assert json.loads(capfd.readouterr().out)["channels"] == 2


def test_traffic_is_written_in_plain_digits(tmp_path, capfd):
    file = tmp_path / "matrix.csv"
    file.write_text("source,target,bytes\n0,1,1_000\n")
    assert code_of("evaluate", TORUS, "dor", "--metrics", f"traffic-load~matrix={file}") == 2
    assert "'1_000' is not a number of bytes" in capfd.readouterr().out

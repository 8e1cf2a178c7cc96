"""`routelab export`: where routes come from, where files go, and what is refused."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from routelab.api import InputError, UnsupportedError
from routelab.cli import main
from routelab.jobs.folder_job import run_job
from routelab.registry.instances import load
from routelab.routing import export
from routelab.workflow.stages.routes import RouteJob

NETWORK, ROUTING = "torus~dims=4x2", "angara-sssp"


@pytest.fixture(scope="module")
def routed(tmp_path_factory):
    """A folder of `routelab route`."""
    folder = tmp_path_factory.mktemp("routed") / "routes"
    run_job(RouteJob(folder=str(folder), topology=NETWORK, text=ROUTING))
    return folder


def test_all_ways_to_name_routes_are_one(routed):
    names = str(routed), str(routed / "routes.npz")
    ways = [(names[0],), (names[1],), (NETWORK, names[0]), (NETWORK, names[1]), (NETWORK, ROUTING)]
    texts = [export.export_routes("simgrid", way, "") for way in ways]
    assert all(text == texts[0] for text in texts)
    table = load("export", "simgrid").read(texts[0])
    assert np.array_equal(table.hop_channel, export.table_of(ways[-1]).hop_channel)


def test_files_that_no_one_can_read_are_written_but_not_verified(routed, monkeypatch, capsys):
    plugin = type(load("export", "simgrid"))
    monkeypatch.setattr(plugin, "read", lambda self, files: None)
    folder = routed.parent / "unread"
    assert main(["export", "simgrid", str(routed), "-o", str(folder)]) == 0
    assert main(["export", "simgrid", str(routed), "--verify", str(folder)]) == 2
    assert "files of this format cannot be read back" in capsys.readouterr().err


def test_the_machine_of_a_cluster_is_written(tmp_path):
    cluster = tmp_path / "mine.yaml"
    cluster.write_text("name: Mine\nmachine: {link_bandwidth: 3.0e9, injection_bandwidth: 2.0e9}\n")
    text = export.export_routes("simgrid", (NETWORK, ROUTING), str(cluster))["platform.xml"]
    assert text.count('bandwidth="3000000000.0Bps"') == 24
    assert text.count('bandwidth="2000000000.0Bps"') == 8


def test_a_folder_or_the_terminal(tmp_path, capsys):
    folder = tmp_path / "new"
    assert main(["export", "booksim", NETWORK, ROUTING, "-o", str(folder)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["export", "booksim", NETWORK, ROUTING]) == 0
    printed = capsys.readouterr().out
    anynet, routes = ((folder / name).read_text() for name in ("anynet.txt", "routes.txt"))
    assert printed == f"==> anynet.txt <==\n{anynet}==> routes.txt <==\n{routes}"
    # one file has no heading, and an export may take the place of the one before
    assert main(["export", "simgrid", NETWORK, ROUTING]) == 0
    assert capsys.readouterr().out.startswith("<?xml")
    assert main(["export", "booksim~latency=4", NETWORK, "dor", "-o", str(folder)]) == 0
    assert "router 0 router 2 4\n" in (folder / "anynet.txt").read_text()


def test_other_files_of_the_folder_are_kept(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["export", "simgrid", NETWORK, ROUTING, "-o", str(tmp_path)]) == 2
    assert "it has files that are not this export (mine.txt)" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["simgrd", NETWORK, ROUTING], 2, "did you mean 'simgrid'?"),
        (["simgrid", "dor"], 2, "dor is not a folder or routes.npz"),
        (["simgrid", "a", "b", "c"], 2, "there are 3 arguments: a b c"),
        (["simgrid", NETWORK, "dor", "--machine", "none"], 2, "machine: no cluster 'none'"),
        (["simgrid", "none.npz"], 2, "cannot read none.npz: file not found"),
        (["simgrid~cores=0", NETWORK, "dor"], 2, "cores=0"),
        (["simgrid", NETWORK, "minimal-adaptive"], 1, "has no route table"),
    ],
)
def test_wrong_arguments_are_rejected(arguments, code, said, capsys):
    assert main(["export", *arguments]) == code
    message = capsys.readouterr().err
    assert said in message
    assert "Traceback" not in message


def test_routes_of_another_network_are_refused(routed):
    with pytest.raises(InputError, match="belongs to another topology"):
        export.table_of(("torus~dims=4x4", str(routed)))


def test_routes_beyond_the_format_are_rejected(tmp_path):
    ring = tmp_path / "ring.txt"
    ring.write_text("a b\nb c\nc a\n")
    with pytest.raises(UnsupportedError, match="booksim: a link has only one direction"):
        export.export_routes("booksim", (f"graph~file=[{ring}],directed=true", "dfsssp"))


def test_routes_without_their_network_are_refused(tmp_path):
    (tmp_path / "alone.npz").touch()
    with pytest.raises(InputError, match="name the network before the file"):
        export.export_routes("simgrid", (str(tmp_path / "alone.npz"),), "")


def test_a_folder_is_proved_to_hold_the_routes(tmp_path, capsys):
    folder = tmp_path / "tables"
    routes = ["angara", NETWORK, ROUTING]
    assert main(["export", *routes, "-o", str(folder)]) == 0
    assert main(["export", *routes, "--verify", str(folder)]) == 0
    # a pair of different switches of eight each
    assert capsys.readouterr().out == f"{folder} holds the network and its 56 routes\n"
    # other routes: the first pair that differs is told
    assert (
        main(["export", "angara", NETWORK, "first@direction-order", "--verify", str(folder)]) == 1
    )
    message = capsys.readouterr().err
    assert f"{folder} does not hold these routes: from switch 0.0 to 2.1 the routes take" in message
    # another network
    assert main(["export", "angara", "mesh~dims=4x2", ROUTING, "--verify", str(folder)]) == 1
    assert "the network differs: channel_source has 20 entries" in capsys.readouterr().err


def test_unverifiable_files_are_reported(tmp_path, capsys):
    folder = tmp_path / "tables"
    folder.mkdir()
    routes = ["angara", NETWORK, ROUTING]
    for argument, said in (
        (str(tmp_path / "none"), "folder not found"),
        (str(folder), "angara: network.txt not found"),
    ):
        assert main(["export", *routes, "--verify", argument]) == 2
        assert said in capsys.readouterr().err
    (folder / "network.txt").write_bytes(b"\xff\xfe")
    assert main(["export", *routes, "--verify", str(folder)]) == 2
    assert "network.txt: it is not UTF-8 text" in capsys.readouterr().err
    assert main(["export", *routes, "--verify", "a", "-o", "b"]) == 2


def test_an_export_that_errs_writes_nothing(tmp_path, monkeypatch, capsys):
    """A plugin's files are compared with the routes before they are written."""
    plugin = type(load("export", "booksim"))
    honest = plugin.export
    monkeypatch.setattr(
        plugin,
        "export",
        lambda *a: {k: v.replace("\n0 3 1.0 2 ", "\n0 3 1.0 3 ") for k, v in honest(*a).items()},
    )
    assert main(["export", "booksim", NETWORK, ROUTING, "-o", str(tmp_path / "new")]) == 1
    assert "export/booksim: " in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_routing_wins_over_a_folder_of_its_name(routed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dor").mkdir()
    by_name = export.table_of((NETWORK, "dor"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"cannot read empty/outcome\.json"):
        export.table_of((NETWORK, "empty"))
    (tmp_path / "dor").rmdir()
    shutil.copytree(routed, tmp_path / "dor")
    in_folder, angara = export.table_of((NETWORK, "dor")), export.table_of((NETWORK, ROUTING))
    assert np.array_equal(in_folder.hop_channel, angara.hop_channel)
    assert not np.array_equal(in_folder.hop_channel, by_name.hop_channel)

from __future__ import annotations

import csv
import dataclasses
import zipfile
from pathlib import Path

import numpy as np
import pytest

from routelab.api import InputError, Topology
from routelab.results.array_files import read_arrays, write_arrays
from routelab.routing.topology_file import (
    load_topology,
    save_topology,
    topology_digest,
    write_channels_csv,
)


def assert_same(topology: Topology, copy: Topology) -> None:
    for field in dataclasses.fields(Topology):
        first, second = getattr(topology, field.name), getattr(copy, field.name)
        if isinstance(first, np.ndarray):
            assert first.dtype == second.dtype, field.name
            np.testing.assert_array_equal(first, second, err_msg=field.name)
        else:
            assert first == second, field.name


def test_topology_comes_back(tmp_path: Path, topology: Topology) -> None:
    save_topology(topology, tmp_path / "t.npz", {"seed": 3})
    assert_same(load_topology(tmp_path / "t.npz"), topology)
    assert read_arrays(tmp_path / "t.npz", "topology/1", ())[0]["provenance"] == {"seed": 3}


@pytest.mark.parametrize("switches", [1, 2])
def test_bare_topology_comes_back(tmp_path: Path, switches: int) -> None:
    bare = Topology.create(
        num_switches=switches,
        channel_source=[0] * (switches - 1),
        channel_target=[1] * (switches - 1),
        terminal_switch=[],
    )
    save_topology(bare, tmp_path / "t.npz")
    assert_same(load_topology(tmp_path / "t.npz"), bare)


IDENTITIES = {
    "terminal_names": ("n1", "", "n 3", "ü"),
    "terminal_guids": ("0x0002c903000e0b72", "", "", "0x1"),
    "switch_guids": ("", "0x2", "", ""),
    "channel_names": ("a", "a", "", "", "ü", "ü", "", "", "a"),
    "terminal_port": [17, -1, 3, -1],
}


def identified(topology: Topology, **known: object) -> Topology:
    values = {field.name: getattr(topology, field.name) for field in dataclasses.fields(Topology)}
    return Topology.create(**(values | known))


def test_who_is_who_comes_back(tmp_path: Path, topology: Topology) -> None:
    known = identified(topology, **IDENTITIES)
    save_topology(known, tmp_path / "t.npz")
    assert_same(load_topology(tmp_path / "t.npz"), known)


@pytest.mark.parametrize("part", IDENTITIES)
def test_every_identity_is_in_the_digest(topology: Topology, part: str) -> None:
    known = identified(topology, **{part: IDENTITIES[part]})
    assert topology_digest(known) != topology_digest(topology)


def test_files_from_before_there_were_identities_are_read(
    tmp_path: Path, topology: Topology
) -> None:
    save_topology(topology, tmp_path / "t.npz")
    metadata, arrays = read_arrays(tmp_path / "t.npz", "topology/1", ())
    assert not {*metadata, *arrays} & set(IDENTITIES)
    # as it was computed when topologies had no identities
    assert metadata["digest"] == "dd424c9001852796bdef91581cc7602ce268dc40f2cdd3d4688b05eb9c931059"


def test_equal_topologies_make_equal_files(tmp_path: Path, topology: Topology) -> None:
    save_topology(topology, tmp_path / "a.npz")
    save_topology(load_topology(tmp_path / "a.npz"), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        # the time of writing would make two runs differ
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_numpy_alone_reads_the_file(tmp_path: Path, topology: Topology) -> None:
    save_topology(topology, tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["channel_target"], topology.channel_target)
        assert '"family": "ring"' in str(file["metadata"])


@pytest.mark.parametrize(
    "change",
    [
        {"channel_latency": np.zeros(9)},
        {"terminal_switch": [0, 1, 3, 3]},
        {"switch_names": ["a", "b", "c", "d"]},
        {"coordinates": None},
    ],
)
def test_digests_of_different_topologies_differ(
    topology: Topology, change: dict[str, object]
) -> None:
    values = {field.name: getattr(topology, field.name) for field in dataclasses.fields(Topology)}
    same, other = Topology.create(**values), Topology.create(**(values | change))
    assert topology_digest(same) == topology_digest(topology)
    assert topology_digest(other) != topology_digest(topology)


def test_every_truncation_is_reported(tmp_path: Path, topology: Topology) -> None:
    save_topology(topology, tmp_path / "t.npz")
    content = (tmp_path / "t.npz").read_bytes()
    cut = tmp_path / "cut.npz"
    for size in range(0, len(content), 97):
        cut.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"cut\.npz is damaged.*topology/1"):
            load_topology(cut)


def test_every_flipped_byte_is_harmless_or_reported(tmp_path: Path, topology: Topology) -> None:
    save_topology(topology, tmp_path / "t.npz")
    content = bytearray((tmp_path / "t.npz").read_bytes())
    flipped = tmp_path / "flipped.npz"
    reported = []
    for place in range(0, len(content), 53):
        content[place] ^= 0xFF
        flipped.write_bytes(content)
        content[place] ^= 0xFF
        try:
            assert_same(load_topology(flipped), topology)
        except InputError as error:
            reported.append(str(error))
    assert reported
    assert all(str(flipped) in text for text in reported)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": "routes/1"}, "expected format topology/1, found routes/1"),
        ({"format": "topology/2"}, "newer routelab"),
        ({}, "found none"),
        ({"format": "topology/1"}, "lacks channel_capacity"),
    ],
)
def test_wrong_file_is_reported(tmp_path: Path, metadata: dict[str, str], message: str) -> None:
    write_arrays(tmp_path / "t.npz", metadata, {"channel_source": np.zeros(1)})
    with pytest.raises(InputError, match=message) as caught:
        load_topology(tmp_path / "t.npz")
    assert "t.npz" in str(caught.value)


def test_files_of_others_are_reported(tmp_path: Path) -> None:
    np.savez(tmp_path / "plain.npz", a=np.zeros(3))
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "pickle.npz", metadata=np.array([{"a": 1}], dtype=object))
    (tmp_path / "text.npz").write_text("channel,source,target\n")
    for name in ("plain.npz", "array.npy", "pickle.npz", "text.npz", "missing.npz", ""):
        with pytest.raises(InputError, match=str(tmp_path / name)):
            load_topology(tmp_path / name)


def test_channels_csv_names_switches(tmp_path: Path, topology: Topology) -> None:
    write_channels_csv(topology, tmp_path / "channels.csv")
    with (tmp_path / "channels.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == topology.num_channels
    assert rows[2] == {
        "channel": "2",
        "source": "b,1",
        "target": "ü",
        "source_port": "2",
        "target_port": "6",
        "direction": "+X",
        "ring": "0",
        "latency_seconds": str(topology.channel_latency[2]),
        "capacity": "1.0",
    }
    assert [float(row["latency_seconds"]) for row in rows] == topology.channel_latency.tolist()
    assert (rows[8]["target_port"], rows[8]["direction"], rows[8]["ring"]) == ("", "", "")

"""Routes of dumped forwarding tables: as a walk by hand finds them, with one message for faults."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from routelab.api import RouteTable, Topology, UnsupportedError
from routelab.metrics import channel_loads
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.toolkit.infiniband import addresses_of, complete
from routelab_plugins.routing.opensm import OpenSM, programs

DATA = Path(__file__).parents[3] / "data" / "infiniband"
FABRIC = f"infiniband~file={DATA / 'fabric.topo'}"
DUMP = DATA / "opensm-lfts.dump"


@pytest.fixture(scope="module")
def fabric() -> Topology:
    return load("topology", FABRIC).build()


def routes(topology: Topology, file: Path, **more: object) -> RouteTable:
    values = "".join(f",{key}={value}" for key, value in more.items())
    return Routing.from_name(f"forwarding-tables~file={file}{values}").table(topology)


def loads_by_hand(topology: Topology, text: str) -> Counter[tuple[str, int]]:
    """Count the routes through each switch and port, from the text of a dump."""
    entries, owner = {}, {}
    for block in text.split("Unicast lids")[1:]:
        guid = re.search(r"guid (0x[0-9a-f]+)", block)[1]
        for lid, port, end in re.findall(
            r"^(0x[0-9a-f]+) (\d+) .*portguid (0x\w+)", block, re.MULTILINE
        ):
            entries[guid, lid] = int(port)
            owner[end] = lid
    cable = {
        (topology.switch_guids[s], int(p)): topology.switch_guids[t]
        for s, p, t in zip(
            topology.channel_source, topology.source_port, topology.channel_target, strict=True
        )
    }
    loads: Counter[tuple[str, int]] = Counter()
    for source in topology.terminal_switch.tolist():
        for target in topology.terminal_guids:
            here = topology.switch_guids[source]
            while (here, port := entries[here, owner[target]]) in cable:
                loads[here, port] += 1
                here = cable[here, port]
    return loads


@pytest.mark.parametrize("file", ["opensm-lfts.dump", "dump_lfts.txt", "opensm.fdbs"])
def test_loads_are_those_of_a_walk_by_hand(fabric: Topology, file: str) -> None:
    loads = channel_loads(routes(fabric, DATA / file))
    by_hand = loads_by_hand(fabric, DUMP.read_text())
    for channel, load_ in enumerate(loads.tolist()):
        guid = fabric.switch_guids[fabric.channel_source[channel]]
        assert load_ == by_hand[guid, int(fabric.source_port[channel])]
    assert sum(by_hand.values()) > 0


def written(tmp_path: Path, topology: Topology, routing: str) -> tuple[RouteTable, Path]:
    """Export routes; return their table and the file with the forwarding tables."""
    table = Routing.from_name(routing).table(topology)
    (tmp_path / "lfts").write_text(load("export", "opensm").export(table, None)["routelab.lft"])
    return table, tmp_path / "lfts"


def level_lines(table: RouteTable, of_terminal=lambda terminal, level: level) -> str:
    """Return service levels equal to the lanes of a table, changed for each source terminal."""
    topology, addresses = table.topology, addresses_of(table.topology)
    lanes = complete(table, 8).lanes
    return "".join(
        f"{guid} {lid} {of_terminal(t, int(lanes[topology.terminal_switch[t], target]))}\n"
        for t, guid in enumerate(addresses.terminal_guids)
        for target, lid in enumerate(addresses.terminal_lids.tolist())
    )


@pytest.mark.parametrize("network", [FABRIC, "torus~dims=5,terminals=2"])
def test_exported_tables_come_back_with_their_lanes(network: str, tmp_path: Path) -> None:
    topology = load("topology", network).build()
    table, file = written(tmp_path, topology, "dfsssp~routes=terminals")
    assert table.virtual_channels == (1 if network == FABRIC else 2)
    (tmp_path / "sls").write_text(level_lines(table))
    copy = routes(topology, file, sls=tmp_path / "sls")
    for name in ("pair_start", "path_start", "hop_channel", "hop_vc", "path_weight"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(table, name), name)
    # without levels, all is on lane 0
    assert routes(topology, file).virtual_channels == 1


def test_levels_of_terminals_of_one_switch_may_differ(tmp_path: Path) -> None:
    topology = load("topology", "torus~dims=4,terminals=2").build()
    table, file = written(tmp_path, topology, "up-down-tables@up-down")
    (tmp_path / "sls").write_text(level_lines(table, lambda terminal, _: 4 + terminal % 2))
    lines = ["Switch 0x{:x}, base LID 1, 's'", "{} {} :" + " 0 0 0 0 0 3" + " 0" * 10]
    guids = addresses_of(topology).switch_guids
    (tmp_path / "lanes").write_text(
        "\n".join(
            line
            for guid in guids
            for line in (
                lines[0].format(int(guid, 16)),
                *(lines[1].format(a, b) for a in range(5) for b in range(1, 5)),
            )
        )
    )
    copy = routes(topology, file, sls=tmp_path / "sls", sl2vl=tmp_path / "lanes")
    np.testing.assert_array_equal(channel_loads(copy), channel_loads(table))
    several = copy.path_length > 0
    assert set(copy.path_weight[several].tolist()) == {0.5}
    assert set(copy.hop_vc.tolist()) == {0, 3}


CHANGES = {
    "missing": (
        lambda text, s: re.sub(r"(?m)^(0x\w{4}) 00[1-9] .*'h3'?.*\n", "", text, count=1),
        "has no entry for LID|does not deliver packets for its LID",
    ),
    "file": (lambda text, s: text[: len(text) // 2], ":22: .* is not a line"),
    "port": (
        lambda text, s: re.sub(r" 00[1-3] # Channel", " 050 # Channel", text, count=1),
        "no cable",
    ),
    "switch": (lambda text, s: text.replace(s[2:].lstrip("0"), "77777", 1), "without a table"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_damaged_dump_gives_one_message(fabric: Topology, case: str, tmp_path: Path) -> None:
    change, message = CHANGES[case]
    text = DUMP.read_text()
    changed = change(text, fabric.switch_guids[0])
    assert changed != text
    (tmp_path / "dump").write_text(changed)
    with pytest.raises(UnsupportedError, match=message) as error:
        routes(fabric, tmp_path / "dump")
    assert "\n" not in str(error.value)


def test_a_loop_is_named_by_its_switches_and_lid(tmp_path: Path) -> None:
    topology = load("topology", "mesh~dims=4").build()
    _, file = written(tmp_path, topology, "up-down-tables@up-down")
    addresses = addresses_of(topology)
    lid = int(addresses.terminal_lids[0])
    blocks = file.read_text().split("Unicast lids")
    # switch 1 sends packets for terminal 0 away from it, where switch 2 sends them back
    away = int(
        addresses.channel_port[
            np.flatnonzero((topology.channel_source == 1) & (topology.channel_target == 2))[0]
        ]
    )
    blocks[2] = re.sub(rf"(?m)^0x{lid:04x} \d+", f"0x{lid:04x} {away:03d}", blocks[2])
    file.write_text("Unicast lids".join(blocks))
    names = topology.switch_names
    expected = f"LID {lid} .*are forwarded in a loop: {names[1]} → {names[2]} → {names[1]}"
    with pytest.raises(UnsupportedError, match=expected):
        routes(topology, file)


def test_missing_levels_are_named(fabric: Topology, tmp_path: Path) -> None:
    (tmp_path / "sls").write_text(f"{fabric.terminal_guids[0]} 1 0\n")
    with pytest.raises(UnsupportedError, match=r"no service level from terminal .* to LID"):
        routes(fabric, DUMP, sls=tmp_path / "sls")


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch, fabric: Topology) -> None:
    monkeypatch.setattr(programs, "PATH", "/nonexistent")
    reason = OpenSM().supports(fabric)
    assert reason is not None
    assert "opensm, ibsim" in reason
    assert "apt-get install" in reason
    assert OpenSM().input_files() == []


def test_the_log_gives_time_and_errors(tmp_path: Path) -> None:
    log = tmp_path / "log"
    reader = programs.LogReader(log)
    assert not reader.is_up()
    log.write_text(
        "Nov 23 23:59:59 900000 [1] 0x04 -> ucast_mgr_route: building routing with 'lash' ...\n"
        "Nov 23 00:00:00 150000 [1] 0x02 -> osm_ucast_mgr_process: lash tables config"
    )
    assert not reader.is_up()
    with log.open("a") as file:
        file.write("ured on all switches\nNov 23 00:00:01 0 [1] 0x02 -> SUBNET UP\n")
    assert reader.is_up()
    assert reader.seconds == pytest.approx(0.25)
    log.write_text(
        "Nov 23 06:36:42 923829 [5] 0x01 -> construct_fabric: ERR AB2B: Found two roots\n"
        "Nov 23 06:36:42 923830 [5] 0x01 -> ucast: ERR 3A0E: No routing engine able to route\n"
    )
    failed = programs.LogReader(log)
    assert not failed.is_up()
    assert "ERR AB2B: Found two roots" in failed.problem


def test_torus_2qos_is_for_two_or_three_dimensions() -> None:
    topology = load("topology", "torus~dims=3x3x3x3").build()
    with pytest.raises(UnsupportedError, match="2 or 3 dimensions"):
        OpenSM(engine="torus-2QoS")._torus_file(topology, addresses_of(topology))

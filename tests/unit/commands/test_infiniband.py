"""`routelab infiniband`: exit codes, formats, and sentences for operators."""

from __future__ import annotations

import json
from pathlib import Path

from routelab.cli import main

DATA = Path(__file__).parents[2] / "data" / "infiniband"
FABRIC, LFTS = str(DATA / "fabric.topo"), str(DATA / "opensm-lfts.dump")


def clockwise(folder: Path) -> tuple[str, list[str]]:
    """Write tables that send everything round a ring of three switches; return them and GUIDs.

    Returns
    -------
    files : tuple of str
        Fabric and tables.
    lines : list of str
        Service levels without a credit loop: one for each switch.
    """
    fabric, tables, levels = [], [], []
    for switch in range(3):
        after, before = (switch + 1) % 3, (switch + 2) % 3
        guid, host = f"S-{switch + 1:016x}", f"H-{switch + 17:016x}"
        fabric.append(
            f"""\
Switch\t3 "{guid}"\t# "s{switch}" base port 0 lid {switch + 1} lmc 0
[1]\t"S-{after + 1:016x}"[2]\t# "s{after}" lid {after + 1} 4xSDR
[2]\t"S-{before + 1:016x}"[1]\t# "s{before}" lid {before + 1} 4xSDR
[3]\t"{host}"[1]({switch + 33:x})\t# "h{switch}" lid {switch + 4} 4xSDR

Ca\t1 "{host}"\t# "h{switch}"
[1]({switch + 33:x})\t"{guid}"[3]\t# lid {switch + 4} lmc 0 "s{switch}" lid {switch + 1} 4xSDR
"""
        )
        tables.append(f"Unicast lids [0-6] of switch Lid 1 guid 0x{switch + 1:016x} ('s'):")
        own = {switch + 1: 0, switch + 4: 3}
        tables += [f"0x{lid:04x} {own.get(lid, 1):03d}" for lid in range(1, 7)]
        tables.append("6 lids dumped")
        # no level has the routes of all three switches, unless replies use it, too
        levels += [
            f"0x{source:x} {lid} {switch // 2}"
            for source in (switch + 1, switch + 17)
            for lid in range(1, 7)
        ]
    (folder / "fabric.topo").write_text("\n".join(fabric))
    (folder / "lfts").write_text("\n".join(tables) + "\n")
    (folder / "sls").write_text("\n".join(levels) + "\n")
    return str(folder / "fabric.topo"), levels


def lanes(of_levels: str) -> str:
    """Return SL2VL tables that are the same at all ports of these switches."""
    return "".join(
        f"0x{switch:x} {came} {port} {of_levels}\n"
        for switch in (1, 2, 3)
        for came in range(4)
        for port in (1, 2, 3)
    )


def check(capsys, *arguments: str) -> tuple[int, str]:
    code = main(["infiniband", "check", *arguments])
    return code, capsys.readouterr().out


def test_the_exit_code_is_the_verdict(capsys, tmp_path):
    fabric, levels = clockwise(tmp_path)
    files = (fabric, "--lfts", str(tmp_path / "lfts"))
    code, text = check(capsys, *files)
    assert code == 3
    assert "s0:1 on VL 0 waits for s1:1 on VL 0 waits for s2:1 on VL 0 waits for s0:1" in text
    assert text.endswith("give the service levels of the fabric with --sls.\n")

    code, text = check(capsys, *files, "--sls", str(tmp_path / "sls"))
    assert code == 3
    assert "If VL = SL, the verdict is proven; otherwise give the SL2VL tables" in text
    files += ("--sl2vl", str(tmp_path / "sl2vl"))
    (tmp_path / "sl2vl").write_text(lanes("0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7"))
    code, text = check(capsys, *files, "--sls", str(tmp_path / "sls"))
    assert code == 0
    assert "If replies use the SL of the request (RDMA-CM): credit loops." in text
    assert "Result: proven. Unicast traffic cannot deadlock, with these service levels.\n" in text

    code, text = check(capsys, *files, "--sls", str(tmp_path / "sls"), "--replies", "same")
    assert code == 5
    assert text.endswith("Result: cycle. Packets can wait for each other in a credit loop.\n")

    (tmp_path / "sls").write_text("\n".join(levels[:-3]))
    code, text = check(capsys, *files, "--sls", str(tmp_path / "sls"))
    # the last line is about packets to the host itself
    assert (code, "lacks 2 pairs of end ports" in text) == (3, True)

    (tmp_path / "sl2vl").write_text(lanes(" ".join(["0x00"] * 8)))
    code, text = check(capsys, *files, "--sls", str(tmp_path / "sls"))
    assert (code, "Credit loops: 1" in text) == (5, True)


def test_one_level_for_all_traffic_has_a_credit_loop_or_none(capsys, tmp_path):
    fabric, _ = clockwise(tmp_path)
    code, text = check(capsys, fabric, "--lfts", str(tmp_path / "lfts"), "--sls", "0")
    assert (code, "Credit loops: 1\n" in text) == (5, True)
    code, text = check(capsys, FABRIC, "--lfts", LFTS, "--sls", "0")
    assert code == 0
    assert "All unicast traffic is on SL 0 (--sls).\n" in text
    assert text.endswith(
        "Result: proven. Unicast traffic cannot deadlock, with all of it on SL 0.\n"
    )
    assert main(["infiniband", "check", FABRIC, "--lfts", LFTS, "--sls", "16"]) == 2
    assert "'16' is not a service level (0 to 15)" in capsys.readouterr().err


def test_wrong_input_is_named(capsys, tmp_path):
    half = tmp_path / "lfts"
    half.write_text(Path(LFTS).read_text()[:900])
    assert main(["infiniband", "check", FABRIC, "--lfts", str(half)]) == 2
    assert "truncated" in capsys.readouterr().err
    assert main(["infiniband", "check", FABRIC, "--lfts", str(tmp_path / "none")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_faults_are_listed(capsys, tmp_path):
    lines = Path(LFTS).read_text().splitlines(keepends=True)
    # the LID of a host moves to another number
    changed = [line.replace("0x0083", "0x0080").replace("100021", "100091") for line in lines]
    (tmp_path / "lfts").write_text("".join(changed))
    code, text = check(capsys, FABRIC, "--lfts", str(tmp_path / "lfts"))
    assert code == 6
    assert "Wrong or missing entries: 2\n" in text
    assert "LID 0x0083 (host h2' - 'x) has no entry at 3 switches: s0, s2, s3\n" in text
    assert "Pairs of hosts without a route: 4\n" in text
    assert "LIDs in the tables that no port of the fabric has: 1\n" in text
    code, text = check(capsys, FABRIC, "--lfts", str(tmp_path / "lfts"), "--format", "json")
    printed = json.loads(text)
    assert (code, printed["verdict"], printed["unreachable_lids"]) == (6, "broken", 1)
    assert [fault["kind"] for fault in printed["faults"]] == ["entry", "entry"]


def test_aggregation_nodes_are_no_hosts(capsys, tmp_path):
    fabric = tmp_path / "fabric.topo"
    text = Path(FABRIC).read_text()
    fabric.write_text(text.replace('"h3"', '"Mellanox Technologies Aggregation Node"'))
    code, text = check(capsys, str(fabric), "--lfts", LFTS, "--format", "json")
    printed = json.loads(text)
    assert (code, printed["hosts"], printed["left_out"], printed["foreign_lids"]) == (0, 3, 2, 0)
    _, text = check(capsys, str(fabric), "--lfts", LFTS)
    assert "End ports of aggregation nodes: 2;" in text

    # the same loads, by the routing that reads the tables
    network = f"infiniband~file=[{fabric}]"
    tables = f"forwarding-tables~file=[{LFTS}]"
    assert main(["evaluate", network, tables, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["pairs"], row["left_out"], row["max_load"]) == (6, 2, printed["max_load"])
    assert main(["evaluate", network, tables]) == 0
    assert "end ports that are no hosts and left out: 2\n" in capsys.readouterr().out

    # entries of all end ports are needed in a fabric
    assert main(["export", "opensm", network, "dfsssp", "-o", str(tmp_path / "files")]) == 1
    assert "leaves out 2 end ports" in capsys.readouterr().err
    assert not (tmp_path / "files").exists()
    whole = f"infiniband~file=[{fabric}],leave_out=[]"
    assert main(["export", "opensm", whole, "dfsssp", "-o", str(tmp_path / "files")]) == 0


def test_prove_has_the_verdict_of_a_check_without_service_levels(tmp_path, capsys):
    fabric, _ = clockwise(tmp_path)
    tables = (tmp_path / "lfts").read_text()
    (tmp_path / "cut").write_text(tables.replace("0x0006 001", "0x0006 255", 1))
    cases = ((FABRIC, LFTS, 0), (fabric, tmp_path / "lfts", 3), (fabric, tmp_path / "cut", 6))
    for network, lfts, code in cases:
        assert (
            main(["infiniband", "check", network, "--lfts", str(lfts), "--format", "json"]) == code
        )
        check = json.loads(capsys.readouterr().out)
        assert main(["prove", network, str(lfts), "--format", "json"]) == code
        proof = json.loads(capsys.readouterr().out)
        assert proof["verdict"] == check["verdict"]
        assert ("service levels are unknown" in proof["reason"]) == (code == 3)
        if code != 6:
            assert proof["max_load"] == check["max_load"]
    assert main(["prove", fabric, str(tmp_path / "lfts"), "--waits", "one"]) == 2
    assert main(["prove", str(tmp_path / "lfts"), fabric]) == 2

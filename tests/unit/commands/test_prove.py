"""`routelab prove`: exit codes, formats and files."""

import json

import pytest

from routelab.cli import main

CYCLE = "source,target,switches\nA,C,B,C\nB,D,C,D\nC,A,D,A\nD,B,A,B\n"
PROVEN = CYCLE.replace("D,B,A,B", "D,B,A@1,B@1")
BROKEN = CYCLE.replace("D,B,A,B", "D,B,A")


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "code", "verdict"),
    [(PROVEN, 0, "proven"), (CYCLE, 5, "cycle"), (BROKEN, 6, "broken"), ("A,C\n", 2, None)],
)
def test_each_verdict_has_its_exit_code(text, code, verdict, in_folder, capsys):
    (in_folder / "r.csv").write_text(text)
    assert main(["prove", "r.csv", "--format", "json"]) == code
    printed = capsys.readouterr().out
    if verdict is None:
        assert not printed
        return
    answer = json.loads(printed)
    assert answer["verdict"] == verdict
    assert len(answer["cycle"]) == (4 if verdict == "cycle" else 0)


def test_files_are_written_only_for_what_they_show(in_folder, capsys):
    files = ["--certificate", "proof.json", "--plot", "cycle.svg"]
    (in_folder / "r.csv").write_text(CYCLE)
    assert main(["prove", "r.csv", *files]) == 5
    assert "no certificate" in capsys.readouterr().out
    assert not (in_folder / "proof.json").exists()
    assert "A&gt;B vc 0 waits for B&gt;C vc 0" in (in_folder / "cycle.svg").read_text()

    (in_folder / "cycle.svg").unlink()
    (in_folder / "r.csv").write_text(PROVEN)
    assert main(["prove", "r.csv", *files]) == 0
    assert json.loads((in_folder / "proof.json").read_text())["format"]
    assert not (in_folder / "cycle.svg").exists()


def test_an_unknown_network_or_option_is_rejected(in_folder, capsys):
    (in_folder / "r.csv").write_text(PROVEN)
    for arguments in (["moebius"], ["torus~dims=0"], ["torus~dims=4"]):
        assert main(["prove", *arguments, "r.csv"]) == 2
    assert main(["prove", "r.csv", "--vcs", "0"]) == 2
    assert main(["prove", "r.csv", "--plot", "cycle.txt"]) == 2
    assert main(["prove", "r.csv", "--repair", "2"]) == 2
    assert main(["prove", "r.csv", "--repair", "0", "-o", "new.csv"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_repaired_routes_are_written(in_folder, capsys):
    (in_folder / "r.csv").write_text(CYCLE)
    assert main(["prove", "r.csv", "--repair", "2", "-o", "new.csv"]) == 5
    assert "Repaired: new.csv" in capsys.readouterr().out
    assert main(["prove", "new.csv"]) == 0

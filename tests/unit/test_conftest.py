"""Which tests run when."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["test_quick"]),
        (("--slow",), ["test_far", "test_marked", "test_quick"]),
        (("--all",), ["test_far", "test_marked", "test_quick", "test_thorough"]),
        (("-m", "slow"), ["test_far", "test_marked", "test_thorough"]),
        (("golden",), ["test_far", "test_thorough"]),
        (("-n", "1"), ["test_quick"]),
        (("golden", "-n", "1"), ["test_far", "test_thorough"]),
    ],
)
def test_slow_tests_run_only_when_asked_for(tmp_path, arguments, names):
    """The same choice with and without processes of xdist, whose workers get other arguments."""
    (tmp_path / "conftest.py").write_text(
        (TESTS / "conftest.py").read_text().replace("Path(__file__).parent", "Path.cwd()", 1)
    )
    (tmp_path / "reference").symlink_to(TESTS / "reference")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = unit golden\n")
    quick = (
        "from examples import examples\n"
        "def test_quick(pytestconfig):\n"
        "    assert examples(40) == (40 if pytestconfig.getoption('slow') else 8)\n"
    )
    marked = "import pytest\n@pytest.mark.{}\ndef test_{}(): pass\n"
    for folder, text in (
        ("unit", marked.format("slow", "marked") + quick),
        ("golden", marked.format("thorough", "thorough") + "def test_far(): pass\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"test_{folder}.py").write_text(text)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = {
        line.rpartition("::")[2].split()[0] for line in run.stdout.splitlines() if "::" in line
    }
    assert sorted(found) == names
    assert ("make test-all" in run.stdout) == (names == ["test_quick"])

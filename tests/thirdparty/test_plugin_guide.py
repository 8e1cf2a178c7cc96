"""A stranger follows docs/plugins.md to the letter, in a package that routelab does not know."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from installed_in_place import write_metadata

GUIDE = Path(__file__).parents[2] / "docs/plugins.md"
FILE = re.compile(r"^`([\w/]+\.(?:py|toml))`.*?^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The guide's files, with the metadata that installing them would write."""
    site = tmp_path_factory.mktemp("site")
    files = dict(FILE.findall(GUIDE.read_text(encoding="utf-8")))
    assert set(files) == {
        "pyproject.toml",
        "routelab_example/__init__.py",
        "routelab_example/direct.py",
    }
    for name, text in files.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    write_metadata(site, site)
    return site


def routelab(site, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "routelab", *arguments],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_keeps_the_contract(site):
    for plugin in ("complete", "direct"):
        run = routelab(site, "plugins", "check", plugin)
        assert run.returncode == 0, run.stdout + run.stderr


def test_a_built_in_selection_routes_the_example_directly(site):
    """Six switches: thirty pairs over thirty channels, one hop each, so nothing can wait."""
    run = routelab(site, "evaluate", "complete~switches=6", "first@direct", "--format", "csv")
    assert run.returncode == 0, run.stdout + run.stderr
    (facts,) = csv.DictReader(run.stdout.splitlines())
    assert (facts["pairs"], facts["channels"]) == ("30", "30")
    assert float(facts["max_load"]) == float(facts["min_load"]) == float(facts["max_hops"]) == 1
    assert facts["deadlock"] == "proven"


def test_the_example_s_reason_reaches_the_user(site):
    run = routelab(site, "evaluate", "torus~dims=4x4", "first@direct", "--format", "csv")
    assert run.returncode == 1
    assert "176 pairs of switches have no channel" in run.stdout

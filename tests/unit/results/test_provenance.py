from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import pytest

import routelab
from routelab.api import MetricPlugin, Parameters, parameter
from routelab.results.json_files import to_json
from routelab.results.provenance import (
    ResourceMeter,
    checkout,
    machine,
)

MEGABYTE = 2**20


class Stranger(MetricPlugin):
    name = "stranger"
    summary = "Not installed"

    class Parameters(Parameters):
        class_: str = parameter("all", description="")
        seed: int = parameter(0, description="")

    def measure(self, table, graph):
        return []


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_wall_and_cpu_seconds_are_those_of_the_block() -> None:
    burn(0.1)
    with ResourceMeter() as measured:
        burn(0.2)
        time.sleep(0.2)
    wall, cpu = measured.wall_seconds, measured.cpu_seconds
    burn(0.1)
    assert (measured.wall_seconds, measured.cpu_seconds) == (wall, cpu)
    assert wall >= 0.4
    assert 0.18 <= cpu < wall - 0.1


def test_children_count() -> None:
    code = "import time\nwhile time.process_time() < 0.3: pass"
    with ResourceMeter() as measured:
        subprocess.run([sys.executable, "-c", code], check=True)
    assert measured.cpu_seconds >= 0.28


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_peak_memory_is_that_of_the_process_and_not_of_its_parent() -> None:
    code = (
        "from routelab.results.provenance import peak_memory\n"
        "print(peak_memory()); block = b'x' * (100 * 2**20); print(peak_memory())"
    )
    block = b"x" * (400 * MEGABYTE)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    del block
    before, after = map(int, done.stdout.split())
    assert 5 * MEGABYTE < before < 400 * MEGABYTE
    assert 95 * MEGABYTE < after - before < 110 * MEGABYTE


def test_provenance_says_where_a_result_comes_from() -> None:
    with ResourceMeter() as measured:
        pass
    facts = json.loads(to_json(measured.provenance([Stranger(seed=4)], seed=4, fingerprint="f00")))
    assert facts["routelab"] == routelab.__version__
    assert facts["plugins"] == [
        {
            "kind": "metric",
            "name": "stranger",
            "distribution": "",
            "version": "",
            "parameters": {"class": "all", "seed": 4},
        }
    ]
    assert (facts["seed"], facts["fingerprint"]) == (4, "f00")
    assert facts["host"] == os.uname().nodename
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (facts["numba"], facts["numpy"]) == (version("numba"), version("numpy"))
    started = datetime.fromisoformat(facts["started"])
    assert started.utcoffset() == timedelta(0)
    assert timedelta(0) <= datetime.now(UTC) - started < timedelta(minutes=5)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    environ = {key: text for key, text in os.environ.items() if not key.startswith("GIT_")}
    # settings of whoever runs the tests, such as to sign tags
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a git checkout with one commit."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    folder = tmp_path / "src" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    git(tmp_path, "tag", "-a", "v1", "-m", "a tag must not take the commit's place")
    return folder


def test_checkout_names_commit_and_state(package: Path) -> None:
    commit = git(package, "rev-parse", "HEAD")
    assert checkout(package) == {"git_commit": commit, "git_dirty": False}
    (package / "__init__.py").write_text("X = 1")
    checkout.cache_clear()
    assert checkout(package) == {"git_commit": commit, "git_dirty": True}


def test_copy_inside_another_checkout_has_no_commit(package: Path) -> None:
    installed = package.parents[1] / ".venv" / "package"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert checkout(installed) == {"git_commit": None, "git_dirty": None}


def test_no_checkout_and_no_git_are_no_failure(
    package: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = {"git_commit": None, "git_dirty": None}
    assert checkout(tmp_path_factory.mktemp("elsewhere")) == nothing
    monkeypatch.setenv("PATH", "")
    assert checkout(package) == nothing


def test_variables_of_a_surrounding_git_do_not_mislead(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    assert checkout(package)["git_dirty"] is False


class Runner(Stranger):
    name = "runner"

    def program_versions(self):
        if self.parameters.class_ == "broken":
            raise ValueError("no version")
        return {"runner": "1.2.3"}


def test_provenance_has_the_versions_of_programs() -> None:
    with ResourceMeter() as measured:
        pass
    good, broken = measured.provenance([Runner(), Runner(class_="broken")])["plugins"]
    assert good["programs"] == {"runner": "1.2.3"}
    assert "no version" in broken["programs"]["runner"]


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs /proc")
def test_provenance_describes_the_machine_without_its_name() -> None:
    facts = machine()
    assert facts["cpus"] == os.cpu_count()
    assert facts["architecture"] == os.uname().machine
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert facts["memory_bytes"] == pages
    assert facts["kernel"] == f"Linux {os.uname().release}"
    assert os.uname().nodename not in facts.values()

"""Elsewhere than on Linux every entry into routelab ends with one message."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MESSAGE = (
    "routelab runs only on Linux, and this is {}: use a Linux machine, a Linux container, or "
    "WSL2 on Windows"
)
ELSEWHERE = """\
import sys
for name in {missing!r}:
    sys.modules[name] = None
import argparse, subprocess, ctypes  # they look for the platform when they are imported
sys.platform = {platform!r}
"""
UNIX = ("fcntl", "grp", "pwd", "resource", "termios")
"""Modules that Python lacks on Windows."""
PLATFORMS = [("darwin", (), "macOS"), ("win32", UNIX, "Windows"), ("freebsd14", (), "freebsd14")]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("platform", "missing", "name"), PLATFORMS)
@pytest.mark.parametrize("arguments", [["plugins", "list"], ["batch", "x"], ["--help"]])
def test_commands_end_with_one_line_and_exit_code_2(platform, missing, name, arguments):
    start = ELSEWHERE.format(platform=platform, missing=missing)
    done = run_python(f"{start}from routelab.cli import main; sys.exit(main({arguments}))")
    assert done.returncode == 2
    assert (done.stdout, done.stderr) == ("", f"routelab: error: {MESSAGE.format(name)}\n")


@pytest.mark.parametrize(("platform", "missing", "name"), PLATFORMS)
@pytest.mark.parametrize("wanted", ["routelab import evaluate", "routelab.api import Topology"])
def test_what_scripts_and_plugins_import_says_it(platform, missing, name, wanted):
    start = ELSEWHERE.format(platform=platform, missing=missing)
    done = run_python(f"{start}from {wanted}")
    assert done.stderr.splitlines()[-1] == f"ImportError: {MESSAGE.format(name)}"


def test_make_says_it_before_it_installs_anything(tmp_path):
    if not shutil.which("make"):
        pytest.skip("needs make")
    (tmp_path / "uname").write_text("#!/bin/sh\necho Darwin\n")
    (tmp_path / "uname").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    venv = tmp_path / "venv"
    done = subprocess.run(
        ["make", f"VENV={venv}", f"{venv}/installed"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    first, *others = done.stderr.splitlines()
    assert first == MESSAGE.format("Darwin").replace("routelab", "routelab:")
    assert all(line.startswith("make") for line in others)
    assert done.returncode == 2
    assert not venv.exists()

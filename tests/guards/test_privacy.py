"""No data leaves the machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUESTS = (
    r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts)\b|\bimport\s*\("
)
"""Parts of scripts that load something."""

WATCHED = """
import sys
def refuse(event, arguments):
    if event.split(".")[0] in ("socket", "ftplib", "http", "smtplib", "urllib", "webbrowser"):
        if event not in ("socket.__new__", "socket.gethostname"):
            raise RuntimeError(f"connection: {event} {arguments}")
sys.addaudithook(refuse)
from routelab.cli import main
if sys.argv[1] == "connect":
    import socket
    socket.create_connection(("127.0.0.1", 9))
sys.exit(main(sys.argv[1:]))
"""


def test_scripts_of_pages_request_nothing():
    scripts = sorted((ROOT / "src/routelab/report/templates").glob("*.js"))
    assert len(scripts) >= 2
    for path in scripts:
        assert not re.search(REQUESTS, path.read_text(encoding="utf-8")), path


def run_watched(*arguments, folder):
    return subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_commands_open_no_connection(tmp_path):
    (tmp_path / "study.yaml").write_text(
        "title: Small\ntopologies: [torus~dims=4]\nroutings: [dor]\n"
        "tables: {t: {rows: [routing], values: [max_load]}}\n"
    )
    for arguments in (
        ["--version"],
        ["plugins", "list"],
        ["route", "torus~dims=4", "dor", "-o", "routes"],
        ["study", "check", "study.yaml"],
        ["report", "study.yaml"],
        ["report", "--index"],
    ):
        done = run_watched(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_connection_would_be_noticed(tmp_path):
    done = run_watched("connect", folder=tmp_path)
    assert done.returncode != 0
    assert "connection: socket." in done.stderr

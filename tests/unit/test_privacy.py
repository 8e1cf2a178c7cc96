"""No data leaves the machine."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "plugins").rglob("*.py"))]
CLIENTS = {
    "aiohttp",
    "asyncio",
    "ftplib",
    "http",
    "httpx",
    "imaplib",
    "paramiko",
    "poplib",
    "requests",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "telnetlib",
    "urllib.request",
    "urllib3",
    "webbrowser",
    "websocket",
    "websockets",
    "xmlrpc",
}
"""Modules that open connections."""
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


def clients(text: str) -> set[str]:
    """Return the modules among `CLIENTS` that a source imports."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return {one for one in CLIENTS if any(f"{name}.".startswith(f"{one}.") for name in names)}


def test_sources_import_no_network_client():
    assert len(SOURCES) > 300
    found = {path: clients(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import urllib.request", "urllib.request"),
        ("from urllib import request", "urllib.request"),
        ("from http.client import HTTPSConnection", "http"),
        ("def f():\n    import socket", "socket"),
    ],
)
def test_network_clients_are_found(text, name):
    assert clients(text) == {name}
    assert clients("from urllib.parse import quote") == set()


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

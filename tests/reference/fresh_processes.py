"""Forks of one process in place of new ones: to start one with routelab takes a second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from routelab.testing.checks import common

SERVE = """
import io, json, os, sys
from routelab.registry.catalogue import installed_catalogue
from routelab.testing import fresh

installed_catalogue()
for line in sys.stdin:
    question, text = json.loads(line)
    reading, writing = os.pipe()
    if not os.fork():
        try:
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            sys.stdin = io.StringIO(text)
            fresh.main()
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}".encode())
            os._exit(1)
    os.close(writing)
    with open(reading) as answer:
        text = answer.read()
    code = os.waitstatus_to_exitcode(os.wait()[1])
    print(json.dumps([question, code, text]), flush=True)
"""


@contextmanager
def forks_of_one_process() -> Iterator[None]:
    """Let the check `fresh-process` run plugins in forks of one other process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "4711"}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        assert command == [sys.executable, "-m", "routelab.testing.fresh"]
        print(json.dumps([os.getpid(), options["input"]]), file=server.stdin, flush=True)
        # a process that was ended may have left the answer to its question
        while (answer := json.loads(server.stdout.readline()))[0] != os.getpid():
            pass
        return subprocess.CompletedProcess(command, answer[1], answer[2], answer[2])

    with patch.object(common, "subprocess", SimpleNamespace(run=run)):
        yield
    server.communicate()

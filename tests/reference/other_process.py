"""One other process for many plugins: to start one with routelab takes a second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from routelab.testing.checks import common
from routelab.toolkit.programs import ProgramEnd

SERVE = """
import io, json, os, sys
from contextlib import redirect_stdout
from routelab.testing import fresh

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    number, text = json.loads(line)
    sys.stdin, output, code = io.StringIO(text), io.StringIO(), 0
    try:
        with redirect_stdout(output):
            fresh.main()
    except BaseException as error:
        code = 1
        print(f"{type(error).__name__}: {error}", file=output)
    print(json.dumps([number, code, output.getvalue()]), file=answers, flush=True)
"""


@contextmanager
def one_other_process() -> Iterator[None]:
    """Let the check `fresh-process` run all plugins in one other process, one after another."""
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

    def run(command: list[str], **options: Any) -> ProgramEnd:
        assert command == [sys.executable, "-m", "routelab.testing.fresh"]
        print(json.dumps([os.getpid(), options["stdin"]]), file=server.stdin, flush=True)
        # a process that was ended may have left the answer to its question
        while (answer := json.loads(server.stdout.readline()))[0] != os.getpid():
            pass
        _, exit_code, text = answer
        return ProgramEnd(
            exit_code,
            text,
            text,
            timed_out=False,
            printed_too_much=False,
            unkilled_group=0,
            seconds=0.0,
        )

    with patch.object(common, "run_program", run):
        yield
    server.communicate()

"""What the Snakefile calls: the plan of the chosen studies, and the folder for one run alone."""

from __future__ import annotations

import fcntl
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from routelab.api import InputError
from routelab.registry.suggest import did_you_mean
from routelab.stages.plan import Plan, expand

RESULTS = Path("results")
STUDIES = Path("config/studies")


def begin(workflow: Any, config: Mapping[str, Any]) -> Plan:
    """The plan of a Snakemake run.

    When the run executes jobs, it gets the folder for itself and forgets failed outcomes first.
    Whatever is wrong with the input ends the process with one message.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    config : mapping
        Snakemake's configuration; ``studies`` is a list, or text with commas or plus signs
        between names of studies or paths.
    """
    try:
        plan = expand(chosen_studies(config.get("studies")), RESULTS)
    except InputError as error:
        sys.exit(str(error))
    if workflow.is_main_process:
        workflow.execute = _prepared(workflow.execute, plan)
    return plan


def kernel_cache() -> str:
    """Name of numba's cache directory: another one when kernels, numba or the CPU change."""
    return Path(os.environ["NUMBA_CACHE_DIR"]).name


def chosen_studies(choice: object) -> list[Path]:
    """Study files that a choice of names and paths stands for.

    Raises
    ------
    InputError
        If nothing is chosen, or a name is not that of a study.
    """
    items = choice if isinstance(choice, list) else re.split(r"[,+\s]+", str(choice or ""))
    names = [str(item) for item in items if item not in ("", None)]
    known = sorted(path.stem for path in STUDIES.glob("*.yaml"))
    if not names:
        raise InputError(
            "no study is chosen: list studies in config/config.yaml, or choose with "
            f"'snakemake report --config studies=NAME,NAME' (known: {', '.join(known)})"
        )
    paths = []
    for name in names:
        path = Path(name) if "/" in name or name.endswith(".yaml") else STUDIES / f"{name}.yaml"
        if not path.is_file():
            raise InputError(
                f"there is no study {name!r}: no file {path}{did_you_mean(name, known)}"
            )
        paths.append(path)
    return paths


def _prepared(execute: Any, plan: Plan) -> Any:
    """`execute` of a workflow, with what has to happen before it looks for finished files.

    Snakemake tells only here, after the Snakefile was read, whether jobs will run: dry runs and
    inspections (``--summary``, ``--lint``) must neither wait for a run nor change a thing.
    """

    def run(*, executor_plugin: Any, **settings: Any) -> Any:
        kind = executor_plugin.common_settings
        if kind.dryrun_exec:
            _tell(plan.failed(), "would be tried again")
        elif not kind.touch_exec:
            hold(plan.results)
            _tell(plan.forget_failed(), "are tried again")
        return execute(executor_plugin=executor_plugin, **settings)

    return run


def _tell(outcomes: list[Path], what: str) -> None:
    if outcomes:
        print(f"{len(outcomes)} failed or timed-out jobs {what}.", file=sys.stderr)


def hold(results: Path) -> None:
    """Keep other runs out of `results` until this process ends, however it ends.

    The process ends with one line if another one holds the folder.
    """
    results.mkdir(parents=True, exist_ok=True)
    lock = os.open(results / ".lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 100).decode(errors="replace").strip()
        sys.exit(f"another run ({holder}) is working in {results}; wait for its end or stop it")
    os.truncate(lock, 0)
    os.write(lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode())

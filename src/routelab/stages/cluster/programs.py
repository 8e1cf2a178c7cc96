"""Whether launcher and benchmarks are there, and are of one MPI."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from routelab.api import BenchmarkPlugin, InputError
from routelab.bench.launchers import find_program
from routelab.config.cluster.file import Cluster, ClusterFile
from routelab.stages.cluster.answers import Check, ask, refused

Flavour: TypeAlias = Literal["MPICH", "Open MPI"]

_LIBRARY = re.compile(r"^\s*(lib(?:mpi|mpich|open-pal|open-rte)\.so\.(\d+)\S*)(.*)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_OPEN_MPI = ("20", "40", "80")
"""Versions of libmpi.so that are Open MPI's; 12 is that of MPICH and all that are like it."""

_MPI4PY = """
import ctypes, os, mpi4py
mpi4py.rc.initialize = False
try:
    from mpi4py import MPI
    print(MPI.Get_library_version())
except (ImportError, RuntimeError) as error:
    try:
        assert os.environ.get("MPI4PY_MPIABI") != "openmpi"
        library = ctypes.CDLL("libmpich.so.12")
    except (AssertionError, OSError):
        raise error from None
    text = ctypes.create_string_buffer(8192)
    library.MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
    print(text.value.decode())
"""
"""Asks mpi4py for its MPI. Of MPICH it may not know Debian's name, which mpi-patterns does."""

_ABI: Mapping[Flavour, str] = {"MPICH": "mpich", "Open MPI": "openmpi"}
"""What mpi-patterns has mpi4py look for under a launcher of that MPI."""

_FOLDER = "put its folder into environment: LD_LIBRARY_PATH"

_MPICH_LINK = (
    f"{_FOLDER}; Debian calls MPICH's libmpich.so.12: make a folder with a link libmpi.so.12 to it"
)

_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}
"""Variables without which Open MPI's launcher refuses to work for root."""

_GOES_WITH: Mapping[str, Flavour] = {
    "mpiexec": "MPICH",
    "openmpi": "Open MPI",
    "pmi2": "MPICH",
    "pmix": "Open MPI",
}
"""MPI that a launcher, or a kind of MPI of srun, is sure to start."""


@dataclass(frozen=True)
class Linked:
    """Which MPI a program loads.

    Attributes
    ----------
    flavour : {"MPICH", "Open MPI"} or None
        None: not known.
    told : str
        The library, or why it is not known.
    mend : str
        Not empty: the program cannot start, and that would help.
    """

    flavour: Flavour | None
    told: str
    mend: str = ""


def check_launcher(cluster: Cluster) -> list[Check]:
    """The launcher, its version, and whether it is the one that the file says."""
    what = f"launcher {cluster.launcher}"
    try:
        program = find_program(cluster)
    except InputError as error:
        text, _, mend = str(error).removeprefix(f"{what}: ").partition("; ")
        return [Check(what, "missing", text, mend)]
    answer = ask([program, "--version"])
    if answer.code != 0:
        return [Check(what, "cannot tell", f"{program} --version: {answer.reason}")]
    lines = [" ".join(line.split()) for line in answer.printed.splitlines()]
    version = next((line for line in lines if re.search(r"\d+\.\d+", line)), "version not told")
    found = f"{program} ({version})"
    flavour = _flavour_of_launcher(answer.printed)
    if cluster.launcher != "srun" and flavour not in (None, _GOES_WITH[cluster.launcher]):
        other = "openmpi" if flavour == "Open MPI" else "mpiexec"
        mend = f"say launcher: {other}, or name the right file: program: /path/to/it"
        return [Check(what, "missing", f"{found} is that of {flavour}", mend)]
    known = {**os.environ, **cluster.environment}
    if cluster.launcher == "openmpi" and os.geteuid() == 0 and not known.keys() >= _AS_ROOT:
        given = ", ".join(f'{name}: "1"' for name in sorted(_AS_ROOT))
        mend = f"be another user, or say environment: {{{given}}}"
        return [Check(what, "missing", f"{found} starts nothing for root", mend)]
    return [Check(what, "ok", found)]


def _flavour_of_launcher(printed: str) -> Flavour | None:
    if re.search(r"Open ?MPI|OpenRTE|PRTE", printed):
        return "Open MPI"
    return "MPICH" if re.search(r"HYDRA|Intel\(R\) MPI", printed, re.IGNORECASE) else None


def check_benchmark(
    file: ClusterFile, text: str, plugin: BenchmarkPlugin, nodes: int
) -> list[Check]:
    """Whether a benchmark can run on so many nodes, where its program is, and of which MPI."""
    cluster, what = file.cluster, f"benchmark {text}"
    each = cluster.ranks_per_node
    checks = []
    reason = plugin.supports(nodes * each, each)
    if reason:
        mend = "choose another network (--topology) or ranks_per_node"
        told = f"{reason} ({nodes} nodes with {each} ranks each)"
        checks.append(Check(what, "missing", told, mend))
    try:
        program = cluster.executable(plugin.name, plugin.executables(nodes * each))
    except InputError as error:
        return [*checks, *_no_program(file, what, plugin.name, error)]
    return [*checks, Check(what, "ok", str(program)), check_mpi(cluster, what, program)]


def check_configured(file: ClusterFile, name: str) -> list[Check]:
    """Whether what the file says of a benchmark is there, as far as that is known of no run."""
    cluster, what = file.cluster, f"benchmarks: {name}"
    told = cluster.benchmarks[name]
    folder = Path(told)
    if "/" in told and folder.is_dir():
        note = f"say --benchmark {name}: which files it needs depends on its parameters"
        return [Check(what, "cannot tell", f"folder {folder}", note)]
    try:
        program = cluster.executable(name, ())
    except InputError as error:
        return _no_program(file, what, name, error)
    return [Check(what, "ok", str(program)), check_mpi(cluster, what, program)]


def _no_program(file: ClusterFile, what: str, name: str, error: InputError) -> list[Check]:
    return refused(what, error, f"{file.path}: ", "benchmarks: ", f"{name}: ")


def check_mpi(cluster: Cluster, what: str, program: Path) -> Check:
    """Whether a program's MPI is that of the launcher; otherwise each rank would be alone."""
    what = f"{what}: MPI"
    key = cluster.launcher if cluster.launcher != "srun" else (cluster.mpi or "").split("_v")[0]
    wanted = _GOES_WITH.get(key)
    linked = linked_mpi(program, cluster.environment, wanted)
    if linked.mend:
        return Check(what, "missing", linked.told, linked.mend)
    if linked.flavour is None or wanted is None:
        return Check(what, "cannot tell", linked.told)
    if linked.flavour == wanted:
        return Check(what, "ok", linked.told)
    if cluster.launcher == "srun":
        # both can be built for both
        found = f"{linked.told}; --mpi={cluster.mpi} is sure to start {wanted}"
        return Check(
            what, "cannot tell", found, "see in a dry run on two nodes how many ranks start"
        )
    other = "openmpi" if linked.flavour == "Open MPI" else "mpiexec"
    found = f"{linked.told}, and {cluster.launcher} starts {wanted}: each rank would be alone"
    return Check(what, "missing", found, f"say launcher: {other}, or build it with {wanted}")


def linked_mpi(
    program: Path, environment: Mapping[str, str], wanted: Flavour | None = None
) -> Linked:
    """The MPI that a program loads; of a Python, the one that mpi4py loads there.

    Parameters
    ----------
    program : Path
    environment : mapping
        Variables besides those there are.
    wanted : {"MPICH", "Open MPI"}, optional
        That of the launcher: where several are installed, mpi4py takes this one.
    """
    if re.fullmatch(r"python[0-9.]*", program.name):
        abi = {"MPI4PY_MPIABI": _ABI[wanted]} if wanted is not None else {}
        return _mpi4py(program, abi | dict(environment))
    answer = ask(["ldd", str(program)], environment)
    if answer.code != 0:
        return Linked(None, f"ldd: {answer.reason}")
    libraries = _LIBRARY.findall(answer.printed)
    absent = _ABSENT.findall(answer.printed)
    if absent:
        mend = _MPICH_LINK if "libmpi.so.12" in absent else _FOLDER
        return Linked(None, f"{', '.join(absent)} not found", mend)
    if not libraries:
        return Linked(None, "it is linked with no MPI that is known")
    shown = next((name for name, *_ in libraries if name.startswith("libmpi")), libraries[0][0])
    own = any(
        name.startswith("libopen") or (name.startswith("libmpi.") and version in _OPEN_MPI)
        for name, version, _ in libraries
    )
    flavour: Flavour = "Open MPI" if own else "MPICH"
    return Linked(flavour, f"{shown} ({flavour})")


def _mpi4py(program: Path, environment: Mapping[str, str]) -> Linked:
    answer = ask([str(program), "-c", _MPI4PY], environment)
    if answer.code is None:
        return Linked(None, answer.reason)
    if answer.code != 0:
        lines = [line.strip() for line in answer.said.splitlines() if line.strip()]
        told = f"mpi4py: {lines[-1] if lines else f'exit code {answer.code}'}"
        if "No module named" in told:
            return Linked(None, told, f"install mpi4py for {program}, or name another python")
        return Linked(None, told, f"install the launcher's MPI; if it is there, {_FOLDER}")
    told = f"mpi4py with {answer.reason}".replace("MPICH Version:", "MPICH").replace("\t", " ")
    if "Open MPI" in answer.printed:
        return Linked("Open MPI", told)
    return Linked("MPICH" if re.search(r"MPICH|Intel", answer.printed) else None, told)

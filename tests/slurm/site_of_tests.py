"""A site of the private Slurm: a cluster's file, a fabric that records, a benchmark that obeys."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench_corpus import DATA
from cluster import SECONDS, VirtualSlurm

FAKE = "npb~kernel=lu,class=W"
"""The benchmark that obeys; its program is `PROGRAM`."""

PROGRAM = """#!/bin/sh
# the n-th line of `parts` says what the n-th run does; after the last one all are good
cd {folder} || exit
rank=$SLURM_PROCID
# each run is a step of Slurm; were they counted by each rank, a rank that another one's fault ends
# before it counted would be a run behind from then on
mkdir -p "steps/$SLURM_JOB_ID.$SLURM_STEP_ID"
part=$(sed -n "$(ls steps | wc -l)p" parts)
case $part in
    hangs) exec sleep 600 ;;
    missing) [ $SLURMD_NODENAME != n04 ] || exec lu.S.x; exec sleep 600 ;;
    exits) [ $rank != 2 ] || {{ echo "no memory left" >&2; exit 3; }}; exec sleep 600 ;;
    killed) [ $rank = 1 ] && kill -KILL $$; exec sleep 600 ;;
    waits) echo here > here.$rank; while [ ! -e go ]; do sleep 0.05; done; part=good ;;
esac
[ $rank != 0 ] || cat ${{part:-good}}.txt
"""

HOOK = """#!/bin/sh
# notes its call; fails as long as there is a file with the name of what it shall do
cd {folder} || exit
echo "$1 $2" >> calls
[ ! -e "$1-fails" ] || {{ echo "no rights to $1"; exit 1; }}
"""

DAEMONS = ("munged", "slurmctld", "slurmscriptd", "slurmd")

TEXTS = {"good": "lu-34", "fewer": "lie-fewer", "unsuccessful": "lie-unsuccessful"}

CLUSTER = """\
launcher: srun
mpi: pmi2
partition: virtual
hosts: n[01-08]
node_sets:
  torus~dims=2: [n02, n01]
  torus~dims=4: [n03, n01, n04, n02]
  torus~dims=4x2: n[01-08]
benchmarks: {benchmarks}
fabric:
  apply: [{folder}/hook, apply, "{{routing}}", "{{folder}}"]
  restore: [{folder}/hook, restore, "{{routing}}"]
"""


class Site:
    """What a test sets up, and the `routelab bench` that it runs there."""

    def __init__(self, folder: Path, slurm: VirtualSlurm) -> None:
        self.folder = folder
        self.slurm = slurm
        self._program("lu.W.x", PROGRAM)
        self._program("hook", HOOK)
        for name, text in TEXTS.items():
            shutil.copy(DATA / "npb" / f"{text}.txt", folder / f"{name}.txt")
        (folder / "silent.txt").touch()
        self.play()
        benchmarks = {"npb": str(folder)}
        if imb := find_imb():
            benchmarks["imb-alltoall"] = str(self._linked(imb))
        (folder / "virtual.yaml").write_text(
            CLUSTER.format(folder=folder, benchmarks=json.dumps(benchmarks))
        )

    def play(self, *parts: str) -> None:
        """Say what the next runs of the benchmark do."""
        done = self.done
        (self.folder / "parts").write_text("good\n" * done + "".join(f"{part}\n" for part in parts))

    @property
    def done(self) -> int:
        """How often the benchmark was started."""
        return len(list((self.folder / "steps").glob("*")))

    @property
    def calls(self) -> list[str]:
        """What the fabric was asked to do."""
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def start(self, *benchmarks: str, **settings: object) -> subprocess.Popen[str]:
        """Start a comparison of two routings."""
        options = {"topology": "torus~dims=4", "warm-up": 0, "repeats": 1, "seconds": 60} | {
            name.replace("_", "-"): value for name, value in settings.items()
        }
        routings = options.pop("routings", ("angara-sssp", "angara-bfs"))
        words = ["--cluster=virtual.yaml", "--apply-routing", "--output=out"]
        words += [f"--{name}={value}" for name, value in options.items()]
        words += [f"--benchmark={name}" for name in benchmarks or (FAKE,)]
        words += [f"--routing={name}" for name in routings]  # type: ignore[attr-defined]
        with (self.folder / "stderr").open("w") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "routelab", "bench", *words],
                cwd=self.folder,
                env=os.environ | self.slurm.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                text=True,
            )

    def bench(self, *benchmarks: str, **settings: object) -> int:
        """Run a comparison, and give its exit code."""
        return self.start(*benchmarks, **settings).wait(300)

    @property
    def stderr(self) -> str:
        return (self.folder / "stderr").read_text()

    def rows(self, file: str = "runs.csv") -> list[dict[str, str]]:
        """What the comparison wrote."""
        with (self.folder / "out" / file).open(newline="") as stream:
            return list(csv.DictReader(stream))

    def wait_until_it_waits(self, bench: subprocess.Popen[str]) -> None:
        """Until a rank of the benchmark waits for `let_go`."""
        waits = (self.folder / "here.0").exists
        self.wait_for(lambda: waits() or bench.poll() is not None)
        assert waits(), self.stderr

    def let_go(self) -> None:
        (self.folder / "go").touch()

    def driver(self) -> int:
        """Process that measures, inside the allocation."""
        (journal,) = (self.folder / "results" / "bench" / "fabrics").glob("**/*.json")
        return int(json.loads(journal.read_text())["process"])

    def wait_for(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + SECONDS
        while not done():
            assert time.monotonic() < end, f"{self.stderr}{self.slurm.logs()}"
            time.sleep(0.05)

    def ranks(self) -> set[int]:
        """Processes of Slurm's steps, what they run, and what waits for them."""
        return {pid for pid in self.slurm.processes() if _name(pid) not in DAEMONS}

    def _program(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text.format(folder=self.folder))
        path.chmod(0o755)

    def _linked(self, imb: Path) -> Path:
        """Intel's benchmark on Debian's MPICH, which lacks a name of its library only."""
        links = self.folder / "mpich"
        links.mkdir()
        for library in Path("/usr/lib").glob("*/libmpich.so.12"):
            (links / "libmpi.so.12").symlink_to(library)
        script = self.folder / "IMB-MPI1"
        script.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={links} exec {imb} "$@"\n')
        script.chmod(0o755)
        return script


def find_imb() -> Path | None:
    """IMB-MPI1: on the PATH, or where CI installs it."""
    place = Path(__file__).parents[2] / "build/imb/bin/IMB-MPI1"
    program = shutil.which("IMB-MPI1") or (place if place.exists() else None)
    return Path(program) if program else None


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""

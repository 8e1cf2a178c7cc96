"""A naive printer of the formats of the OSU Micro-Benchmarks, by benchmark, version and options.

Written from the layout that the programs' sources define: the size left-aligned in 10 characters,
every other column right-aligned in 18, iterations in 12, and a barrier's average in 17.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

TITLES = {
    "osu-alltoall": "All-to-All Personalized Exchange Latency Test",
    "osu-allreduce": "Allreduce Latency Test",
    "osu-allgather": "Allgather Latency Test",
    "osu-bcast": "Broadcast Latency Test",
    "osu-barrier": "Barrier Latency Test",
    "osu-latency": "Latency Test",
    "osu-bw": "Bandwidth Test",
    "osu-bibw": "Bi-Directional Bandwidth Test",
    "osu-mbw-mr": "Multiple Bandwidth / Message Rate Test",
}
COLLECTIVES = ("osu-alltoall", "osu-allreduce", "osu-allgather", "osu-bcast", "osu-barrier")
VERSIONS = ("5.3", "5.6.2", "5.7", "5.9", "6.1", "7.1", "7.3", "7.4", "7.5.2")
DEVICES = ("", "-CUDA", "-ROCM", "-OPENACC")
PAIRS, WINDOW = 16, 64


@dataclass(frozen=True)
class Format:
    plugin: str
    version: str
    device: str = ""
    full: bool = False
    validation: bool = False
    percentiles: tuple[int, ...] = ()
    transmitted: bool = False

    @property
    def number(self) -> tuple[int, int]:
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)

    @property
    def sized(self) -> bool:
        return self.plugin != "osu-barrier"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of the values of a row, in the order of columns."""
        speed = self.plugin in ("osu-bw", "osu-bibw", "osu-mbw-mr")
        first = ("bandwidth",) if speed else ("latency_avg",)
        rate = ("message_rate",) if self.plugin == "osu-mbw-mr" else ()
        full = ("latency_min", "latency_max", "iterations") if self.full else ()
        tail = tuple(
            f"{'bandwidth' if speed else 'latency'}_p{percent}" for percent in self.percentiles
        )
        return first + rate + full + tail + (("transmit_size",) if self.transmitted else ())

    def __str__(self) -> str:
        options = [name for name in ("full", "validation", "transmitted") if getattr(self, name)]
        tail = "".join(f"-p{percent}" for percent in self.percentiles)
        return "-".join([self.plugin, self.version + self.device, *options]) + tail


def formats() -> list[Format]:
    """All formats that exist."""
    switches = (False, True)
    existing = []
    for plugin, version, device in product(TITLES, VERSIONS, DEVICES):
        for full, validation, tail, transmitted in product(switches, repeat=4):
            marks = (50, 90, 99) if tail else ()
            form = Format(plugin, version, device, full, validation, marks, transmitted)
            collective = plugin in COLLECTIVES
            exists = (
                (collective or not full)
                and (form.number >= (5, 9) or not validation)
                and (form.number >= (7, 3) or not tail)
                and ((form.number >= (6, 1) and form.sized) or not transmitted)
                and (device != "-ROCM" or form.number >= (5, 7))
            )
            if exists:
                existing.append(form)
    return existing


def heading(form: Format) -> str:
    latency = "latency_avg" in form.metrics
    if form.plugin == "osu-barrier":
        text = "# Avg Latency(us)"
    elif form.plugin == "osu-mbw-mr":
        text = "# Size    " + right("MB/s") + right("Messages/s")
    elif not latency:
        text = "# Size    " + right("Bandwidth (MB/s)")
    elif form.plugin in COLLECTIVES or form.number >= (7, 4):
        text = "# Size    " + right("Avg Latency(us)")
    else:
        text = "# Size    " + right("Latency (us)")
    if form.full:
        text += right("Min Latency(us)") + right("Max Latency(us)") + right("Iterations", 12)
    if form.validation:
        text += right("Validation")
    for percent in form.percentiles:
        text += right(f"P{percent} Tail Lat(us)" if latency else f"P{percent} Tail BW(MB/s)")
    return text + (right("Transmit Size") if form.transmitted else "")


def right(text: str, width: int = 18) -> str:
    return text.rjust(width)


def row(form: Format, size: int, values: dict[str, float]) -> str:
    before = str(size).ljust(10) if form.sized else ""
    columns, last = [], []
    for metric in form.metrics:
        if metric == "iterations":
            columns.append(right(str(int(values[metric])), 12))
        elif metric == "transmit_size":
            last.append(right(str(int(values[metric]))))
        elif metric.rpartition("_p")[2].isdigit():
            last.append(right(f"{values[metric]:.2f}"))
        else:
            columns.append(right(f"{values[metric]:.2f}", 18 if form.sized or columns else 17))
    return before + "".join([*columns, *([right("Pass")] if form.validation else []), *last])


def lines(form: Format, rows: list[tuple[int, dict[str, float]]]) -> list[str]:
    """Lines of the whole output; `rows` are pairs of size and values by metric."""
    collective = form.plugin in COLLECTIVES
    title = f"# OSU MPI{form.device} {TITLES[form.plugin]} v{form.version}"
    header = [""] if collective or form.number >= (7, 4) else []
    header.append(title)
    if form.plugin == "osu-mbw-mr" and form.number == (7, 1):
        header += [title, ""]
    if form.device and not collective:
        header.append("# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)")
    if form.plugin == "osu-mbw-mr":
        header.append(f"# [ pairs: {PAIRS} ] [ window size: {WINDOW} ]")
    above = below = []
    if form.number >= (7, 0) and form.sized:
        above, below = ["# Datatype: MPI_CHAR."], []
        if not collective and form.number < (7, 4):
            above, below = below, above
    return [*header, *above, heading(form), *below, *(row(form, *values) for values in rows)]

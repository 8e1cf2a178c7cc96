"""Every format of the OSU Micro-Benchmarks, alone and with foreign text in it.

Whatever is added or lost: the same numbers or an error, never other numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from osu_printer import COLLECTIVES, PAIRS, TITLES, VERSIONS, formats, lines

from routelab.api import BenchmarkError, BenchmarkTask, RunOutput
from routelab.registry.instances import load

FORMATS = formats()
ITERATIONS = 20
SIZES = (4, 8, 16, 32)
UNITS = {
    "latency": ("us", "lower"),
    "bandwidth": ("MB/s", "higher"),
    "message": ("1/s", "higher"),
    "iterations": ("", ""),
    "transmit": ("B", ""),
}


def values(form, numbers):
    """Values of a row that do not contradict each other, from eight numbers of hundredths."""
    low, middle, high, *tail = sorted(numbers)
    figures = {"latency_min": low, "latency_avg": middle, "latency_max": high, "bandwidth": middle}
    names = [name for name in form.metrics if name.rpartition("_p")[2].isdigit()]
    figures |= dict(zip(names, tail, strict=False))
    figures = {name: value / 100 for name, value in figures.items()}
    return figures | {"iterations": ITERATIONS}


def table(form, numbers):
    rows = []
    for size, hundredths in zip(SIZES if form.sized else (0,), numbers, strict=False):
        figures = values(form, hundredths) | {"transmit_size": size}
        figures["message_rate"] = float(f"{figures['bandwidth'] * 1e6 / (size or 1):.2f}")
        rows.append((size, {name: figures[name] for name in form.metrics}))
    return rows


def expected(form, rows):
    return [
        (name, figures[name], *UNITS[name.partition("_")[0]], size if form.sized else None)
        for size, figures in rows
        for name in form.metrics
    ]


def ranks_of(plugin):
    return 2 if plugin not in COLLECTIVES and plugin != "osu-mbw-mr" else 2 * PAIRS


def parsed(form, text):
    """Figures and foreign lines; None if the output is refused."""
    sizes = f"size={SIZES[0]},doublings={len(SIZES) - 1}," if form.sized else ""
    plugin = load("benchmark", f"{form.plugin}~{sizes}iterations={ITERATIONS}")
    task = BenchmarkTask(ranks_of(form.plugin), 1, Path("program"), Path("run"))
    try:
        result = plugin.parse(RunOutput(text), task)
    except BenchmarkError:
        return None
    rows = [
        (figure.metric, figure.value, figure.unit, figure.better, figure.size)
        for figure in result.figures
    ]
    assert result.version == form.version
    return rows, list(result.foreign)


FIXED = [[1000 + 37 * row + 11 * place for place in range(8)] for row in range(4)]


def text_of(output_lines):
    return "".join(f"{line}\n" for line in output_lines)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("plugin", TITLES)
def test_every_format_gives_its_numbers(plugin, version):
    chosen = [form for form in FORMATS if (form.plugin, form.version) == (plugin, version)]
    assert chosen
    for form in chosen:
        rows = table(form, FIXED)
        assert parsed(form, text_of(lines(form, rows))) == (expected(form, rows), []), str(form)


@pytest.mark.parametrize("form", [form for form in FORMATS if form.validation][::5], ids=str)
def test_a_failed_validation_is_named(form):
    plugin = load("benchmark", form.plugin)
    whole = lines(form, table(form, FIXED))
    whole[-1] = whole[-1].replace("Pass", "Fail")
    said = "DATA VALIDATION ERROR: ./osu exited with status 1 on message size 32."
    for text in (whole, [*whole, said], [*whole[:-1], said]):
        with pytest.raises(BenchmarkError) as error:
            plugin.parse(RunOutput(text_of(text), exit_code=1 if said in text else None), None)
        assert error.value.failure == "verification-failed"


def test_a_validation_that_was_asked_for_must_have_happened():
    form = next(form for form in FORMATS if form.plugin == "osu-bcast" and form.full)
    plugin = load("benchmark", "osu-bcast~size=4,doublings=3,iterations=20,validate=true")
    with pytest.raises(BenchmarkError, match="osu_bcast did not verify") as error:
        plugin.parse(
            RunOutput(text_of(lines(form, table(form, FIXED)))),
            BenchmarkTask(4, 1, Path("program"), Path("run")),
        )
    assert error.value.failure == "verification-failed"


def test_pairs_give_the_number_of_processes():
    form = next(form for form in FORMATS if form.plugin == "osu-mbw-mr")
    text = text_of(lines(form, table(form, FIXED)))
    plugin = load("benchmark", "osu-mbw-mr~size=4,doublings=3")
    with pytest.raises(BenchmarkError, match="32 processes took part, 8 were") as error:
        plugin.parse(RunOutput(text), BenchmarkTask(8, 1, Path("program"), Path("run")))
    assert error.value.failure == "wrong-processes"
    other = load("benchmark", "osu-mbw-mr~size=4,doublings=3,window=32")
    with pytest.raises(BenchmarkError, match="64 messages in flight, 32 were"):
        other.parse(RunOutput(text), BenchmarkTask(32, 1, Path("program"), Path("run")))


def test_sizes_may_begin_with_none():
    rows = ["0                       1.40", "1                       1.41"]
    text = text_of(["# OSU MPI Latency Test v5.6.2", "# Size          Latency (us)", *rows])
    result = load("benchmark", "osu-latency").parse(RunOutput(text), None)
    assert [(figure.size, figure.value) for figure in result.figures] == [(0, 1.4), (1, 1.41)]

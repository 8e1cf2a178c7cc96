"""What a study says of benchmarks: settings, sweeps, and what does not go together."""

from __future__ import annotations

import pytest

from routelab.study import ConfigError, load_study
from routelab.study.bench_settings import BenchSettings

STUDY = """\
title: Measure
topologies: [torus~dims=4]
routings: [dor]
"""


@pytest.fixture
def read(tmp_path):
    path = tmp_path / "run.yaml"

    def read(more):
        path.write_text(STUDY + more)
        return load_study(path)

    def mistakes(more):
        with pytest.raises(ConfigError) as raised:
            read(more)
        return [line.removeprefix(f"{path}:") for line in raised.value.mistakes]

    read.mistakes = mistakes
    return read


def test_settings_are_the_product_over_their_sweeps(read):
    study = read("benchmarks: [npb]\nbench: {repeats: {sweep: [3, 7]}, seed: {sweep: [0, 1]}}\n")
    assert study.bench_settings == tuple(
        BenchSettings(repeats=repeats, seed=seed) for repeats in (3, 7) for seed in (0, 1)
    )
    assert [settings.canonical() for settings in study.bench_settings] == [
        *("repeats=3", "repeats=3,seed=1"),
        *("repeats=7", "repeats=7,seed=1"),
    ]
    assert read("").bench_settings == ()
    assert read("benchmarks: [npb]\n").bench_settings == (BenchSettings(),)


@pytest.mark.parametrize(
    ("more", "start"),
    [
        ("bench: {repeats: 3}\n", "1: 'bench' needs 'benchmarks'"),
        ("benchmarks: [npb]\nsurvey: true\n", "1: a survey does not measure"),
        (
            "tables: {a: {of: benchmarks, rows: [routing], values: [median]}}\n",
            "1: tables.a: nothing is measured",
        ),
        ("benchmarks: [npb]\nbench: {repeats: {by: {npb: 3}}}\n", "5: bench.repeats: a mapping"),
        (
            "benchmarks: [npb]\nbench: {seed: {sweep: [0, 1]}, minutes: {sweep: [1, 2]}}\n",
            "5: bench: minutes: cannot be swept",
        ),
        ("benchmarks: [npb]\nbench: {repeat: 3}\n", "5: bench.repeat: unknown key"),
        (
            "figures: {b: {of: benchmarks, kind: network, colour: median}}\n",
            "4: figures.b: a figure of kind network shows channels",
        ),
        (
            "figures: {b: {of: flow-pairs, kind: heat, x: sender, colour: bytes}}\n",
            "4: figures.b: a figure of kind heat of flow-pairs does not use x",
        ),
        (
            "figures: {b: {of: channels, kind: heat, x: target, y: source, colour: source}}\n",
            "4: figures.b: colour: 'source' is an axis already",
        ),
    ],
)
def test_contradictory_keys_are_rejected_with_their_place(read, more, start):
    (line,) = read.mistakes(more)
    assert line.startswith(start)


def test_too_many_benchmarks_are_taken_for_a_slip(read):
    entries = [f"{{npb: {{p{number}: {{range: 10000}}}}}}" for number in range(10)]
    assert read.mistakes(f"benchmarks: [{', '.join(entries)}, npb]\n") == [
        "1: stands for 100001 runs; the limit is 100000"
    ]

"""Damaged outputs: never a wrong number, never another error than BenchmarkError."""

from __future__ import annotations

import re
import string
from dataclasses import replace

import pytest
from bench_corpus import FOREIGN, GOOD, PLUGINS
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import BenchmarkError

OF = {plugin: [case for case in GOOD if case.plugin == plugin] for plugin in PLUGINS}
each_plugin = pytest.mark.parametrize("plugin", PLUGINS)
KNOWN = st.booleans()
"""Whether the parser gets what was requested."""


def parsed(case, text, known):
    """What comes of a text in the place of the case's own; None: it is refused."""
    task = case.task() if known else None
    try:
        return case.benchmark().parse(replace(case.output(text), exit_code=None), task)
    except BenchmarkError as error:
        message = str(error)
    assert message.strip()
    assert "\n" not in message
    return None


def require_true(case, text, known):
    """Either it is refused, or every figure is the case's own, all of them if that can be known."""
    result = parsed(case, text, known)
    if result is None:
        return
    assert set(result.figures) <= set(case.figures())
    assert result.version == case.expected["version"]
    assert dict(result.facts) == case.expected["facts"]
    if (known and case.task() is not None) or case.plugin == "npb":
        assert set(result.figures) == set(case.figures())


def written(figure, plugin, figures):
    """The words of the line that a figure stands on."""
    if plugin == "npb":
        name = {"mops": "Mop/s total", "mops_per_process": "Mop/s/process"}
        label = name.get(figure.metric, "Time in seconds")
        return [*label.split(), "=", f"{figure.value:.2f}"]
    row = {other.metric: other.value for other in figures if other.size == figure.size}
    latencies = [
        f"{row[f'latency_{statistic}']:.2f}"
        for statistic in ("avg", "min", "max")
        if _has(row, statistic)
    ]
    count = [str(int(row["iterations"]))] if "iterations" in row else []
    if plugin == "imb-alltoall":
        return [str(figure.size), *count, *latencies[1:], latencies[0]]
    tail = [f"{value:.2f}" for metric, value in row.items() if metric.startswith("latency_p")]
    return [str(figure.size), *latencies, *count, *tail]


def _has(row, statistic):
    return f"latency_{statistic}" in row


def require_whole_lines(case, text, known):
    """Either it is refused, or every figure stands on a whole line, as it is printed."""
    result = parsed(case, text, known)
    if result is None:
        return
    ends = text.replace("\r\n", "\n").split("\n")[:-1]
    lines = [line.replace("=", " = ").split(" ") for line in ends]
    lines = [[word for word in line if word not in ("", "Pass")] for line in lines]
    for figure in result.figures:
        assert written(figure, case.plugin, result.figures) in lines
    if known and case.task() is not None and case.plugin != "npb":
        assert {figure.size for figure in result.figures} == {
            figure.size for figure in case.figures()
        }


def draw_case(data, plugin):
    return data.draw(st.sampled_from(OF[plugin]), "case")


@each_plugin
@given(data=st.data(), known=KNOWN)
def test_the_end_is_cut_off(plugin, data, known):
    case = draw_case(data, plugin)
    require_true(case, case.text[: data.draw(st.integers(0, len(case.text)))], known)


@each_plugin
@given(data=st.data(), known=KNOWN, how=st.sampled_from(["drop", "double", "swap", "cut"]))
def test_lines_are_lost_doubled_or_swapped(plugin, data, known, how):
    case = draw_case(data, plugin)
    lines = case.text.split("\n")
    for _ in range(data.draw(st.integers(1, 3), "times")):
        place = st.integers(0, len(lines) - 1)
        i, j = data.draw(place), data.draw(place)
        if how == "drop":
            del lines[i]
        elif how == "double":
            lines.insert(j, lines[i])
        elif how == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines[i] = lines[i][: data.draw(st.integers(0, len(lines[i])))]
    if how == "cut":
        # half a header's version is a version, too
        require_whole_lines(case, "\n".join(lines), known)
    else:
        require_true(case, "\n".join(lines), known)


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_a_line_of_another_program_does_no_harm_anywhere(case):
    lines = case.text.split("\n")
    for place in range(len(lines)):
        line = FOREIGN[place % len(FOREIGN)]
        text = "\n".join([*lines[:place], line, *lines[place:]])
        result = parsed(case, text, known=True)
        assert result is not None, (place, line)
        assert result.figures == case.figures()


@each_plugin
@given(data=st.data(), known=KNOWN)
def test_digits_become_letters(plugin, data, known):
    case = draw_case(data, plugin)
    digits = [place for place, letter in enumerate(case.text) if letter.isdigit()]
    text = list(case.text)
    for place in data.draw(st.lists(st.sampled_from(digits), min_size=1, max_size=4)):
        text[place] = data.draw(st.sampled_from("OlSBeE_٣²x"))
    require_true(case, "".join(text), known)


@each_plugin
@given(data=st.data(), known=KNOWN)
def test_two_outputs_in_one_are_refused(plugin, data, known):
    case, other = draw_case(data, plugin), draw_case(data, plugin)
    assert parsed(case, case.text + other.text, known) is None
    rest = [case.text.split("\n")[:-1], other.text.split("\n")[:-1]]
    turns = data.draw(st.lists(st.sampled_from(rest), max_size=60))
    lines = [whose.pop(0) for whose in turns if whose] + rest[0] + rest[1]
    assert parsed(case, "\n".join([*lines, ""]), known) is None


@each_plugin
@given(data=st.data(), known=KNOWN)
def test_two_outputs_are_cut_and_joined(plugin, data, known):
    case, other = draw_case(data, plugin), draw_case(data, plugin)
    begin = case.text[: data.draw(st.integers(0, len(case.text)))]
    end = other.text[data.draw(st.integers(0, len(other.text))) :]
    require_whole_lines(case, begin + end, known)


@pytest.mark.parametrize("case", OF["imb-alltoall"], ids=str)
def test_a_row_of_imb_that_lost_characters_is_refused(case):
    row = re.compile(r" *[0-9]+ +[0-9]+( +[0-9]+\.[0-9]{2}){3} *")
    lines = case.text.split("\n")
    places = [place for place, line in enumerate(lines) if row.fullmatch(line.rstrip("\r"))]
    assert places
    for place in places:
        line = lines[place]
        for end in range(1, len(line.rstrip())):
            damaged = [*lines[:place], line[: end - 1] + line[end:], *lines[place + 1 :]]
            assert parsed(case, "\n".join(damaged), known=False) is None, (end, line)


ALPHABET = string.printable + "\x00\x1c\x85\u2028٣\ufffd"


@each_plugin
@settings(max_examples=200)
@given(data=st.data(), known=KNOWN)
def test_bytes_are_changed_lost_or_added(plugin, data, known):
    case = draw_case(data, plugin)
    text = list(case.text)
    for _ in range(data.draw(st.integers(1, 4), "times")):
        place = data.draw(st.integers(0, len(text) - 1))
        end = place + data.draw(st.integers(0, 2))
        text[place:end] = data.draw(st.text(ALPHABET, max_size=2))
    require_whole_lines(case, "".join(text), known)


@each_plugin
@given(data=st.data(), known=KNOWN, text=st.text() | st.text(ALPHABET))
def test_any_text_is_refused(plugin, data, known, text):
    assert parsed(draw_case(data, plugin), text, known) is None


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_a_number_beyond_reason_is_refused(case):
    number = f"{case.figures()[0].value:.2f}"
    for digits in (30, 400, 5000):
        assert parsed(case, case.text.replace(number, "9" * digits + number), known=False) is None
        assert parsed(case, case.text.replace(number, f"0{number}"), known=False) is None

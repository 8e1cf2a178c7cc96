import itertools
import time
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.study.document import load_document


def document(tmp_path: Path, text: str):
    path = tmp_path / "x.yaml"
    path.write_text(text)
    return load_document(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("true", True),
        ("010", "010"),
        ("1:30", "1:30"),
        ("2026-11-20", "2026-11-20"),
        ("-12", -12),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("4x2", "4x2"),
        ("'4'", "4"),
        ("~", None),
    ],
)
def test_scalars_are_those_of_yaml_1_2(tmp_path, text, value):
    read = document(tmp_path, f"key: {text}\n").data["key"]
    assert read == value
    assert type(read) is type(value)


def test_the_key_on_is_a_word(tmp_path):
    assert document(tmp_path, "{on: [a], off: b}").data == {"on": ["a"], "off": "b"}


def test_a_part_knows_its_line(tmp_path):
    read = document(tmp_path, "a: 1\nb:\n  - x\n  - c: {d: 2}\n")
    assert read.place(["b", 1, "c", "d"]) == f"{read.path}:4: b[1].c.d: "
    assert read.place(["b", 1, "<branch>", "nowhere"]) == f"{read.path}:4: b[1]: "
    assert read.place([]) == f"{read.path}:1: "


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: 2\na: 3\nc: {d: 1, d: 2}\n", [":3: the key 'a'", ":4: the key 'd'"]),
        ("a: [1\nb: 2\n", [":2: is not valid YAML"]),
        ("a:\n  - !!python/object/apply:os.system [ls]\n", [":2: could not determine a constr"]),
        ("a: !!python/name:os.system x\n", [":1: could not determine a constructor for the tag"]),
        ("a: !mine {b: c}\n", [":1: could not determine a constructor for the tag '!mine'; write"]),
        (
            "{a: Which one?, b: c}\n",
            [":1: is not valid YAML: expected ',' or '}', but got '?'; put"],
        ),
        ("a: b: c\n", [":1: is not valid YAML: mapping values are not allowed here; put"]),
        ("[a]: b\n", [":1: is not valid YAML: found unhashable key"]),
        ("a: b\n---\na: c\n", [":2: is not valid YAML"]),
        ("a: *b\n", [":1: is not valid YAML"]),
        ("a: 1\nb: \x1b[0m\n", [":2: is not valid YAML: the character #x1b is not allowed"]),
    ],
)
def test_mistakes_name_file_and_line(tmp_path, text, lines):
    with pytest.raises(InputError) as raised:
        document(tmp_path, text)
    messages = str(raised.value).splitlines()
    assert len(messages) == len(lines)
    for line, expected in zip(messages, lines, strict=True):
        assert line.startswith(f"{tmp_path / 'x.yaml'}{expected}")


LAUGHS = "a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in itertools.pairwise("abcdefghijkl")
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "has more than 100000 parts"),
        ("a: &a [*a]\n", "has more than 100000 parts"),
        ("a: &a {b: {c: *a}}\n", "has more than 100000 parts"),
        ("[" * 3000, "nested too deeply"),
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ("a: " + "{b: " * 2000 + "}" * 2000, "nested too deeply"),
        ("a: " + "x" * 1_000_000, "is larger than 1000000 bytes"),
        ("a: " + "1" * 5000, "invalid value"),
    ],
    ids=["laughs", "itself", "itself below", "open", "deep", "deep mapping", "large", "digits"],
)
def test_bombs_are_refused_at_once_and_briefly(tmp_path, text, message):
    began = time.process_time()
    with pytest.raises(InputError, match=message) as raised:
        document(tmp_path, text)
    assert time.process_time() - began < 60
    assert len(str(raised.value)) < 300


def test_a_file_that_is_read_again_is_as_it_was(tmp_path):
    first = document(tmp_path, "a: {b: [1, 2]}\n")
    first.data["a"]["b"].append(3)
    assert document(tmp_path, "a: {b: [1, 2]}\n").data == {"a": {"b": [1, 2]}}
    assert document(tmp_path, "a: {b: [1, 3]}\n").data == {"a": {"b": [1, 3]}}


def test_a_part_may_stand_twice(tmp_path):
    read = document(tmp_path, "a: &a {b: [1, 2]}\nc: *a\n")
    assert read.data["c"] == {"b": [1, 2]}


def test_unreadable_files_are_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"missing\.yaml: cannot be read"):
        load_document(tmp_path / "missing.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"binary\.yaml"):
        load_document(tmp_path / "binary.yaml")


def test_an_empty_file_has_no_data(tmp_path):
    assert document(tmp_path, "# nothing\n").data is None

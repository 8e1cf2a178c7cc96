"""The check of the English: it reads every kind of file, and names line, phrase and advice."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs/check_prose.py"
LONG = "word " * 31


@pytest.fixture
def check(tmp_path):
    """Return a function that checks one file, in a copy of the checker's folder."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for file in (SCRIPT, SCRIPT.with_name("prose.yaml")):
        (docs / file.name).write_bytes(file.read_bytes())

    def run(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        command = [sys.executable, docs / SCRIPT.name, tmp_path / name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return run


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.md", "# Page\n\nThe load\nis told here.\n", 4),
        ("a.md", "| a | b |\n| - | - |\n| c | is told here |\n", 3),
        ("a.yaml", "title: A\nnotes:\n  - The load is told here.\n", 3),
        ("a.yaml", "# The load is told here.\ntitle: A\n", 1),
        ("a.py", 'def f(x):\n    """Return the load, which is told."""\n', 2),
        ("a.py", 'def f(x):\n    raise ValueError(f"{x} is "\n        "told here")\n', 2),
        ("a.html.j2", "<h1>{{ a }}</h1>\n<p>The load <b>is told</b> here.</p>\n", 2),
        ("a.py.j2", 'def {{ f }}(x):\n    """Return the load, which is told."""\n', 2),
    ],
)
def test_a_phrase_is_found_with_its_line(check, name, text, line):
    code, output = check(name, text)
    assert code == 1
    assert output == f"{name}:{line}: 'is told': say who prints, marks or reports it\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", f"# Page\n\nShort. {LONG}.\n"),
        ("a.py", f'"""Short.\n\n{LONG}.\n"""\n'),
        ("a.yaml", f"title: {LONG}\n"),
    ],
)
def test_a_long_sentence_is_an_error(check, name, text):
    code, output = check(name, text)
    assert code == 1
    assert "31 words in 'word word word word word word ...': split it" in output


def test_code_and_parameter_lists_are_not_sentences(check):
    assert check("a.md", f"# Page\n\n    is told\n\n```\n{LONG}is told\n```\n\n`is told`\n") == (
        0,
        "",
    )
    rows = "\n".join(f"    p{number} : int\n        One value" for number in range(30))
    assert check("a.py", f'def f():\n    """Do it.\n\n{rows}\n    """\n') == (0, "")


def test_thirty_words_are_not_too_long(check):
    assert check("a.md", "word " * 30) == (0, "")

"""Documents say the same in Markdown and in LaTeX, whatever their texts contain."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latexwalker import LatexWalker

from routelab.report.appendix.document import (
    Bullets,
    Commands,
    Facts,
    Heading,
    Mono,
    Paragraph,
    to_latex,
    to_markdown,
)

ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30)
WRITTEN = {
    r"\textbackslash{}": "\\",
    r"\textasciicircum{}": "^",
    r"\textasciitilde{}": "~",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"\textquotedbl{}": '"',
    r"\textquotesingle{}": "'",
    r"\textasciigrave{}": "`",
    r"\allowbreak{}": "",
    "{[}": "[",
    "{]}": "]",
    "-{}": "-",
    ",{}": ",",
}


def latex(document):
    """LaTeX without the comment at its beginning."""
    comment, _, text = to_latex(document).partition("\n")
    assert comment.startswith("% ")
    return text.lstrip("\n")


def read_latex(text):
    """The characters that LaTeX shows of an escaped text."""
    known = "|".join(map(re.escape, WRITTEN)) + r"|\\[{}$&#%_]"
    rest = re.sub(known, "", text)
    assert not set(rest) & set('\\{}$&#^_~%<>|"[]'), rest
    return re.sub(known, lambda found: WRITTEN.get(found[0], found[0][1:]), text)


@given(ASCII)
def test_latex_shows_every_character_of_commands_and_texts(text):
    (line,) = re.findall(r"\\texttt\{(.*)\}\\par", latex([Commands([text])]))
    assert read_latex(line) == text
    (heading,) = re.findall(r"^\\section\{(.*)\}$", latex([Heading(1, text)]), re.MULTILINE)
    assert read_latex(heading) == text


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_complete_latex(first, second):
    document = [
        Heading(2, first),
        Paragraph([first, Mono(second)]),
        Bullets([first, [Mono(second)]]),
        Facts(("a", "b"), [([Mono(first)], second)]),
        Commands([first]),
    ]
    text = latex(document)
    nodes, _, length = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    assert length == len(text)
    environments = [node.environmentname for node in nodes if hasattr(node, "environmentname")]
    assert environments == ["itemize", "itemize", "quote"]
    assert not re.search(r"(?<!\\)%", text)
    assert not re.search("[^\\x00-\\u017f–—‘’“”…€•]", text)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_stays_in_its_cell_and_its_line(first, second):
    rows = [([first, Mono(second)], [Mono(first)])] * 3
    lines = to_markdown([Facts(("name", "text"), rows)]).splitlines()
    assert len(lines) == 2 + len(rows)
    for line in lines:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3
    assert len(to_markdown([Paragraph([first, Mono(second)])]).split("\n")) == 2


def test_a_hash_can_be_broken_and_a_word_cannot():
    text = latex([Paragraph([Mono("deadbeef" * 8), " and ", Mono("deadbeef")])])
    assert text.count(r"\allowbreak{}") == 7


def test_markdown_code_keeps_its_backticks():
    assert to_markdown([Paragraph(["run ", Mono("a `b` ``c"), " now"])]) == (
        "run ``` a `b` ``c ``` now\n"
    )


def test_letters_of_europe_stay_and_others_become_numbers():
    assert "Mejía, 5 × 7 $\\geq$ 3 \\textmu{}s" in latex([Paragraph("Mejía, 5 × 7 ≥ 3 µs")])
    assert latex([Paragraph("\U0001f600 中")]) == "U+1F600 U+4E2D\n"


@pytest.mark.thorough
def test_latex_compiles(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex: install Debian's package texlive-latex-base")
    characters = "".join(map(chr, [*range(32, 127), *range(0xA1, 0x180), *map(ord, "σµ–−≥中😀")]))
    document = [
        Heading(1, characters),
        *(Paragraph([f"x{one}y ", Mono(f"a{one}b")]) for one in characters),
        Facts(("a", "b"), [([Mono(one)], f"[{one}") for one in characters]),
        Commands(["routelab evaluate torus~dims=4x2 'a' \"b\" --bound `c` <<>> --- ?`"]),
    ]
    (tmp_path / "appendix.tex").write_text(to_latex(document), encoding="utf-8")
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}"
        r"\begin{document}\appendix\input{appendix}\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]

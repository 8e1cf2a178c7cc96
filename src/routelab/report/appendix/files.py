"""The files of the appendix, next to the pages of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from routelab.api import InputError
from routelab.artifacts.atomic import atomic_file
from routelab.report.appendix.document import FORMATS, Document
from routelab.report.appendix.facts import FILE, SUMS, StudyFacts, read_facts, write_facts
from routelab.report.appendix.text import checksums, report_document, study_document

NAME = "appendix"
"""Name of the files, without suffix."""


def write_study_appendix(facts: StudyFacts, directory: Path) -> None:
    """Write the appendix of a study: ``appendix.json``, ``.md``, ``.tex`` and ``SHA256SUMS``."""
    write_facts(facts, directory)
    _write(study_document(facts), [facts], directory)


def write_report_appendix(report: Path) -> bool:
    """Write the appendix of all studies in the folder of a report; return whether there is one.

    The text names the studies whose facts cannot be read.
    """
    studies: list[StudyFacts] = []
    problems: list[str] = []
    for path in sorted(report.glob(f"*/{FILE}")):
        try:
            studies.append(_below(path.parent.name, read_facts(path)))
        except InputError as error:
            problems.append(str(error))
    if not studies:
        return False
    _write(report_document(studies, problems), studies, report)
    return True


def _below(folder: str, facts: StudyFacts) -> StudyFacts:
    """Return the facts with paths of files that begin with the folder of the study."""
    files = [replace(file, path=f"{folder}/{file.path}") for file in facts.files]
    return replace(facts, files=files)


def _write(document: Document, studies: Sequence[StudyFacts], directory: Path) -> None:
    texts = {f"{NAME}.{suffix}": text_of(document) for suffix, text_of in FORMATS.items()}
    for name, text in {**texts, SUMS: checksums(studies)}.items():
        with atomic_file(directory / name) as new:
            new.write_text(text, encoding="utf-8")

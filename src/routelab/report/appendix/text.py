"""The text of the appendix, from the facts on one study or on all studies of a report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from routelab.report.appendix.document import (
    Block,
    Bullets,
    Commands,
    Document,
    Facts,
    Heading,
    Mono,
    Paragraph,
    Text,
)
from routelab.report.appendix.facts import SUMS, Part, StudyFacts
from routelab.report.labels import duration_text

MOST_VALUES = 12
"""Largest number of values of a parameter in the text; the lists of runs have all."""
ORIGINAL = "results-original"
"""Name for the folder of the published results in commands."""

_KINDS = {"topology": "network", "settings": "settings of"}
_WHY = {
    "": "",
    "times": ", contains computing times",
    "measured": ", contains measurements",
}


def study_document(facts: StudyFacts) -> Document:
    """Return the appendix of a study."""
    title = f"Reproducibility appendix: {facts.title}"
    return [Heading(1, title), *_blocks([facts], f"report/{facts.study}")]


def report_document(studies: Sequence[StudyFacts], problems: Sequence[str] = ()) -> Document:
    """Return the appendix of a report.

    Parameters
    ----------
    studies : sequence of StudyFacts
        At least one; paths of files are relative to the folder of the report.
    problems : sequence of str
        Why further studies are missing.
    """
    listed: list[tuple[Text, Text]] = [
        ([Mono(one.study)], [f"{one.title}; {_jobs_text([one])}"]) for one in studies
    ]
    return [
        Heading(1, "Reproducibility appendix"),
        Facts(("study", "title and size"), listed),
        *(Paragraph(f"Not included: {text}") for text in problems),
        *_blocks(studies, "report"),
    ]


def checksums(studies: Iterable[StudyFacts]) -> str:
    """Return the hashes of all CSV files, one in a line, for ``sha256sum -c``."""
    return "".join(f"{file.sha256}  {file.path}\n" for one in studies for file in one.files)


def _blocks(studies: Sequence[StudyFacts], folder: str) -> list[Block]:
    return [
        Paragraph(
            "routelab made this text from the provenance that it records with every result. "
            "Names of hosts are left out."
        ),
        *_software(studies),
        *_machines(studies),
        *_inputs(studies),
        *_experiments(studies),
        *_reproduction(studies),
        *_comparison(studies, folder),
        *_differences(studies),
        *_hashes(studies),
    ]


def _merged(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(text for texts in lists for text in texts))


def _software(studies: Sequence[StudyFacts]) -> list[Block]:
    names = _merged(one.software for one in studies)
    commits = _merged(one.commits for one in studies)
    rows: list[tuple[Text, Text]] = [
        (["routelab"], [", ".join(_merged(one.releases for one in studies)) or "not recorded"])
    ]
    if commits:
        rows.append((["git commit of routelab"], _code_list(commits)))
    rows += [
        ([name], ["; ".join(_merged(one.software.get(name, ()) for one in studies))])
        for name in names
    ]
    blocks: list[Block] = [Heading(2, "Software"), Facts(("program", "version"), rows)]
    if any(one.changed for one in studies):
        blocks.append(
            Paragraph(
                "Warning: the sources of routelab had local changes that the commit does not "
                "contain. Repeat the study with unchanged sources before you publish it."
            )
        )
    return blocks


def _machines(studies: Sequence[StudyFacts]) -> list[Block]:
    texts = [
        *(_merged(one.machines for one in studies) or ["The machine was not recorded."]),
        *_merged(one.clusters for one in studies),
    ]
    return [Heading(2, "Machine"), Bullets([[text] for text in texts])]


def _inputs(studies: Sequence[StudyFacts]) -> list[Block]:
    files = {file.path: file for one in studies for file in one.inputs}
    rows: list[tuple[Text, Text]] = [
        ([Mono(path)], [Mono(file.sha256)]) for path, file in files.items()
    ]
    return [Heading(2, "Inputs"), Facts(("file", "SHA-256"), rows)]


def _experiments(studies: Sequence[StudyFacts]) -> list[Block]:
    blocks: list[Block] = [
        Heading(2, "Experiments"),
        Paragraph(
            "These are all values of all parameters, defaults included. Settings that are not "
            "listed have the defaults of this version. The CSV files of the report list "
            "every run with its command."
        ),
    ]
    for facts in studies:
        if len(studies) > 1:
            blocks.append(Heading(3, f"Study {facts.study}"))
        rows: list[tuple[Text, Text]] = [
            (_part_name(part), [_values_text(part.parameters) or "no parameters"])
            for part in facts.parts
        ]
        blocks.append(Facts(("part", "parameters"), rows))
        seeds = [f"{part.name}: {_values_text(part.seeds)}" for part in facts.parts if part.seeds]
        if seeds:
            blocks.append(Paragraph(f"Seeds: {'; '.join(seeds)}."))
        else:
            blocks.append(Paragraph("No part of this study has a seed."))
    return blocks


def _part_name(part: Part) -> list[str | Mono]:
    alias: list[str | Mono] = [", called ", Mono(part.alias)] if part.alias else []
    return [f"{_KINDS.get(part.kind, part.kind)} ", Mono(part.name), *alias]


def _values_text(parameters: Mapping[str, Sequence[str]]) -> str:
    shown = {name: [value for value in values if value] for name, values in parameters.items()}
    return "; ".join(f"{name} = {values_text(values)}" for name, values in shown.items() if values)


def values_text(values: Sequence[str]) -> str:
    """Return distinct values in short: ``0 to 19`` for neighbouring integers."""
    if len(values) > 2 and all(re.fullmatch(r"-?\d{1,18}", value) for value in values):
        numbers = sorted(map(int, values))
        if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
            return f"{numbers[0]} to {numbers[-1]}"
    if len(values) <= MOST_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[:MOST_VALUES])} and {len(values) - MOST_VALUES:,} more"


def _reproduction(studies: Sequence[StudyFacts]) -> list[Block]:
    commits = _merged(one.commits for one in studies)
    words = [f"studies={shlex.quote(','.join(_merged([one.selector] for one in studies)))}"]
    words += ["apply_routing=true"] * any(one.apply_routing for one in studies)
    checkout: list[Block] = []
    if len(commits) == 1:
        checkout = [
            Paragraph("In a clone of routelab, this selects its version:"),
            Commands([f"git checkout {commits[0]}"]),
        ]
    return [
        Heading(2, "Reproduce"),
        *checkout,
        Paragraph("Install the software above. Then run this in the folder that has the inputs:"),
        Commands([f"snakemake --cores all report --config {' '.join(words)}"]),
        Paragraph([_cost_text(studies)]),
    ]


def _cost_text(studies: Sequence[StudyFacts]) -> str:
    total = duration_text(sum(one.cpu_seconds for one in studies))
    if not total:
        return f"{_jobs_text(studies)}; their computing time was not recorded."
    longest = duration_text(max(one.longest_seconds for one in studies))
    memory = max(one.memory_bytes for one in studies)
    most = f" A job needed at most {memory / 1e6:,.0f} MB of memory." if memory else ""
    starts = sorted(_merged(one.started for one in studies))
    when = f" Jobs started from {starts[0]} to {starts[-1]}." if starts else ""
    return (
        f"{_jobs_text(studies)}. Together they took {total} of CPU time, the longest {longest}. "
        "On n cores, expect about the n-th part of the sum. The first run also compiles kernels, "
        f"which is not included.{most}{when}"
    )


def _jobs_text(studies: Sequence[StudyFacts]) -> str:
    jobs, ok = sum(one.jobs for one in studies), sum(one.ok for one in studies)
    return f"{ok:,} of {jobs:,} job{'s' * (jobs != 1)} {'have' if jobs != 1 else 'has'} a result"


def _comparison(studies: Sequence[StudyFacts], folder: str) -> list[Block]:
    chosen = f" --study {shlex.quote(studies[0].study)}" if len(studies) == 1 else ""
    return [
        Heading(2, "Compare"),
        Paragraph(
            f"Put the published results into the folder {ORIGINAL}. The first command verifies its "
            "files. The second compares its values with the new ones; its exit code is 0 if they "
            "are equal."
        ),
        Commands(
            [
                f"(cd {shlex.quote(f'{ORIGINAL}/{folder}')} && sha256sum -c {SUMS})",
                f"routelab compare {ORIGINAL} results{chosen}",
            ]
        ),
    ]


def _differences(studies: Sequence[StudyFacts]) -> list[Block]:
    """Return what another run cannot repeat bit by bit, for what the studies contain."""
    files = [file.varies for one in studies for file in one.files]
    programs = {name for one in studies for name in one.software}
    stopped = sum(one.stopped for one in studies)
    limited = _merged(one.limited for one in studies)
    texts: list[Text] = []
    if "times" in files:
        texts.append(["Computing times and memory. Files with computing times are marked below."])
    if "measured" in files:
        texts.append(["Measurements on a cluster. Two of them agree if their intervals overlap."])
    texts += [
        [f"Results of {name}: another version of it may choose differently."]
        for name in ("OpenSM", "SimGrid")
        if name in programs
    ]
    if limited:
        texts.append(
            [
                "Searches that end at a time limit, if a slower machine reaches the limit: ",
                *_code_list(limited),
                ".",
            ]
        )
    if stopped:
        verb = "job that" if stopped == 1 else "jobs that"
        texts.append([f"The {stopped:,} {verb} reached a limit: a faster machine may finish more."])
    random = _merged(one.random for one in studies)
    if random:
        texts.append(["Plugins that do not promise equal results: ", *_code_list(random), "."])
    blocks: list[Block] = [Heading(2, "What may differ")]
    if texts:
        blocks += [Paragraph("Another run may differ in:"), Bullets(texts)]
    blocks.append(
        Paragraph(
            "All other values depend only on the inputs, the seeds and the versions, on any "
            "number of cores. Other processors and other versions of libraries may change the "
            "last digits."
        )
    )
    return blocks


def _hashes(studies: Sequence[StudyFacts]) -> list[Block]:
    rows: list[tuple[Text, Text]] = [
        ([Mono(file.path)], [Mono(file.sha256), _WHY[file.varies]])
        for one in studies
        for file in one.files
    ]
    return [
        Heading(2, "Checksums"),
        Paragraph(["The file ", Mono(SUMS), " contains these hashes of the report's CSV files."]),
        Facts(("file", "SHA-256"), rows),
    ]


def _code_list(texts: Sequence[str]) -> list[str | Mono]:
    """Return texts as code, separated by commas."""
    spans: list[str | Mono] = []
    for text in texts:
        spans += [", "] * bool(spans) + [Mono(text)]
    return spans

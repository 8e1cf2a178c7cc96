"""Checks of every kind of plugin."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from routelab.testing.fingerprints import differences, field_digests
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Subject, Trial, run_plugin

MAX_LISTED = 3
"""Reasons or fields that a message lists; it counts the others."""


def contract(subject: Subject) -> str:
    """It can be imported and states what its kind has to state."""
    return "" if subject.text == subject.written else f"checked as {subject.text}"


def supports(trial: Trial) -> str:
    """``supports()`` answers None or a reason in words, and the same again."""
    first = trial.refusal
    again = trial.ask()
    if again != first:
        raise Failed(f"supports() said {first!r} first and {again!r} for the same input then")
    return "" if first is None else f"refused: {first}"


def result(trial: Trial) -> str:
    """It makes a well-formed result of every input that it supports."""
    trial.first_result()
    return ""


def input_unchanged(trial: Trial) -> str:
    """It leaves its input as it was."""
    changed = trial.changes
    if changed:
        raise Failed(f"it changed its input: {list_some(changed)}; change a copy instead")
    return ""


def repeatable(trial: Trial) -> str:
    """A second run in the same process gives the same result."""
    first = field_digests(trial.result)
    require_determinism(trial.subject)
    differing = differences(first, field_digests(run_plugin(trial.subject.plugin, trial.value)))
    if differing:
        raise Failed(
            f"it claims to be deterministic and a second run differs in {list_some(differing)}"
        )
    return ""


def applies(subject: Subject) -> str:
    """There is an input that it supports."""
    reasons = []
    for trial in subject.trials.values():
        if trial.has_result():
            return ""
        try:
            trial.first_result()
        except (Failed, Skipped) as problem:
            reasons.append(str(problem))
    raise Failed(
        "it made something of none of the inputs, so hardly anything was checked; name networks "
        f"that it is made for (topologies=..., --topology NAME): {list_some(reasons)}"
    )


def fresh_process(subject: Subject) -> str:
    """A run in a process of its own gives the same result."""
    trial = subject.example()
    require_determinism(subject)
    other = subprocess.run(
        [sys.executable, "-m", "routelab.testing.fresh"],
        input=json.dumps([subject.kind, subject.written, list(subject.topologies), trial.name]),
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=False,
    )
    if other.returncode:
        last = other.stderr.strip().splitlines()[-1:] or [f"exit code {other.returncode}"]
        raise Failed(f"on {trial.name} in a fresh process: {last[0]}")
    differing = differences(field_digests(trial.result), json.loads(other.stdout.splitlines()[-1]))
    if differing:
        raise Failed(
            f"it claims to be deterministic and on {trial.name} a fresh process differs in "
            f"{list_some(differing)}; does it iterate over a set or use what earlier runs left?"
        )
    return f"on {trial.name}"


def require_determinism(subject: Subject) -> None:
    """Raise Skipped unless the plugin claims to be deterministic."""
    if not subject.capabilities.deterministic:
        raise Skipped("no claim to be deterministic")


def list_some(items: list[str]) -> str:
    """Some items as text, and how many more there are."""
    distinct = list(dict.fromkeys(items))
    more = f" and {len(distinct) - MAX_LISTED} more" if len(distinct) > MAX_LISTED else ""
    return "; ".join(distinct[:MAX_LISTED]) + more

"""Checks for all kinds of plugins."""

from __future__ import annotations

import json
import os
import sys

from routelab.testing.fingerprints import differences, field_digests
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Subject, Trial, run_plugin
from routelab.toolkit.programs import run_program

MAX_LISTED = 3
"""Largest number of reasons or fields in a message, which counts the others."""


def contract(subject: Subject) -> str:
    """Check that the plugin can be imported and has all that its kind requires."""
    return "" if subject.text == subject.given_text else f"checked as {subject.text}"


def supports(trial: Trial) -> str:
    """Check that ``supports()`` returns None or a reason, and the same when repeated."""
    answer = trial.refusal  # of the first call
    second_answer = trial.call_supports()
    if second_answer != answer:
        raise Failed(
            f"supports() said {answer!r} first and {second_answer!r} for the same input later"
        )
    return "" if answer is None else f"refused: {answer}"


def result(trial: Trial) -> str:
    """Check that every supported input leads to a well-formed result."""
    trial.require_result()
    return ""


def input_unchanged(trial: Trial) -> str:
    """Check that the plugin does not change its input."""
    changes = trial.changes
    if changes:
        raise Failed(f"it changed its input: {list_some(changes)}; change a copy instead")
    return ""


def repeatable(trial: Trial) -> str:
    """Check that a second run in the same process gives the same result."""
    digests = field_digests(trial.result)
    require_determinism(trial.subject)
    fields = differences(digests, field_digests(run_plugin(trial.subject.plugin, trial.value)))
    if fields:
        raise Failed(
            f"it claims to be deterministic and a second run differs in {list_some(fields)}"
        )
    return ""


def applies(subject: Subject) -> str:
    """Check that the plugin supports an input."""
    reasons, num_failures = [], 0
    for trial in subject.trials.values():
        if trial.has_result():
            return ""
        # Both raise why there is no result. `require_result` alone would raise Skipped also where
        # supports() itself fails; `refusal` raises Failed then.
        try:
            _ = trial.refusal
            trial.require_result()
        except Failed:
            num_failures += 1
        except Skipped as problem:
            reasons.append(str(problem))
    # Failures are reported by the checks that found them.
    if num_failures:
        raise Skipped("no input led to a result, see the checks 'supports' and 'result'")
    raise Failed(
        "it supports none of the inputs, so hardly anything was checked; name networks that it "
        f"supports (topologies=..., --topology NAME): {list_some(reasons)}"
    )


def fresh_process(subject: Subject) -> str:
    """Check that a run in another process gives the same result."""
    trial = subject.example()
    require_determinism(subject)
    end = run_program(
        [sys.executable, "-m", "routelab.testing.fresh"],
        stdin=json.dumps([subject.kind, subject.given_text, list(subject.topologies), trial.name]),
        # Another seed of hashes, so that sets of texts are iterated in another order.
        environment=os.environ
        | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "4711"},
    )
    if end.exit_code:
        # the last line of a traceback is the exception
        lines = end.stderr.strip().splitlines() or [f"exit code {end.exit_code}"]
        raise Failed(f"on {trial.name} in a fresh process: {lines[-1]}")
    # the plugin may print, too, before the process prints the digests
    fresh_digests = json.loads(end.stdout.splitlines()[-1])
    fields = differences(field_digests(trial.result), fresh_digests)
    if fields:
        raise Failed(
            f"it claims to be deterministic and on {trial.name} a fresh process differs in "
            f"{list_some(fields)}; does it iterate over a set or use what earlier runs left?"
        )
    return f"on {trial.name}"


def require_determinism(subject: Subject) -> None:
    """Raise Skipped unless the plugin claims to be deterministic."""
    if not subject.capabilities.deterministic:
        raise Skipped("no claim to be deterministic")


def list_some(items: list[str]) -> str:
    """Join up to `MAX_LISTED` different items, and add the number of the others."""
    distinct = list(dict.fromkeys(items))
    more = f" and {len(distinct) - MAX_LISTED} more" if len(distinct) > MAX_LISTED else ""
    return "; ".join(distinct[:MAX_LISTED]) + more

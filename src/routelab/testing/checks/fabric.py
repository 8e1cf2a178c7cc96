"""Checks of fabrics in a dry run: commands are recorded and not run."""

from __future__ import annotations

from routelab.testing.inputs.rehearsal import rehearse
from routelab.testing.results import Failed
from routelab.testing.subjects import Trial, call_plugin


def problems(trial: Trial) -> str:
    """Check that ``problems()`` returns a list of texts and runs nothing."""
    plugin = trial.subject.plugin
    reasons = call_plugin("problems()", lambda: rehearse(plugin, trial.value, problems=True))
    if not all(isinstance(text, str) and text.strip() and "\n" not in text for text in reasons):
        raise Failed(f"problems() must return a list of lines of text, but returned {reasons!r}")
    return "; ".join(reasons)


def changes(trial: Trial) -> str:
    """Check that a fabric that changes nothing runs no command, and that ``restore`` repeats."""
    apply, restore, again = trial.result
    if not trial.subject.plugin.changes and (apply or restore):
        raise Failed(f"it says that it changes nothing, and runs {(apply or restore)[0]}")
    if restore != again:
        raise Failed(f"restore() runs {restore}, and called a second time {again}")
    return f"{len(apply)} commands to apply, {len(restore)} to restore"

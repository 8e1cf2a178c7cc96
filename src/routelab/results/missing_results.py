"""The jobs of a study that have no result, in sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

NOT_RUN = "not-run"
"""Status of a job without an outcome. Reports use it; no outcome file contains it."""

STATUS_TEXTS = {
    "ok": "ok",
    "failed": "failed",
    "timeout": "reached a limit",
    NOT_RUN: "not run yet",
    "unsupported": "unsupported",
}
"""Statuses in words; after ``ok``, the most serious first."""

MOST_REASONS = 3
"""Reasons of one status with a sentence each; more reasons share one sentence."""

LONGEST_REASON = 200
"""Characters of a reason in a sentence."""

_SERIOUS = ("failed", "timeout", NOT_RUN, "unsupported")
_LIMIT = re.compile(
    r"(?:no network: )?reached its limit of (?P<value>[^\n]+?) \((?P<name>limits\.\w+)\)"
)


@dataclass(frozen=True)
class JobStatus:
    """The state of one job of a study.

    Attributes
    ----------
    study : str
    noun, plural : str
        The job's result, in singular and plural: ``"simulation"``, ``"simulations"``.
    status : {"ok", "unsupported", "failed", "timeout", "not-run"}
    reason : str
        Why the status is not ``ok``.
    """

    study: str
    noun: str
    plural: str
    status: str
    reason: str = ""


@dataclass(frozen=True)
class MissingResult:
    """Jobs of one study and kind that have no result for the same cause.

    Attributes
    ----------
    study, noun, plural : str
        See `JobStatus`.
    count, total : int
        Jobs without a result for this cause, and all jobs of this kind.
    status : {"failed", "timeout", "not-run", "unsupported"}
        ``timeout`` stands for every limit, also for that of memory.
    predicate : str
        What happened to them: ``"have not run yet"``.
    """

    study: str
    noun: str
    plural: str
    count: int
    total: int
    status: str
    predicate: str

    @property
    def is_alarm(self) -> bool:
        """Whether a result is missing that could exist; an unsupported job is a normal result."""
        return self.status != "unsupported"

    @property
    def text(self) -> str:
        """The loss without the name of its study: ``4 of 9 simulations have not run yet``."""
        return f"{self._subject} {self.predicate}"

    @property
    def sentence(self) -> str:
        """The loss with the name of its study; there is no full stop at the end."""
        return f"{self._subject} of {self.study} {self.predicate}"

    @property
    def _subject(self) -> str:
        return f"{self.count} of {self.total} {self.noun if self.total == 1 else self.plural}"


def collect_missing(jobs: Iterable[JobStatus]) -> list[MissingResult]:
    """Group the jobs that have no result by study, kind and cause.

    Parameters
    ----------
    jobs : iterable of JobStatus
        All jobs, also those that are ok, so that the totals are right.

    Returns
    -------
    list of MissingResult
        The most serious status first, and within a status the largest group first.
    """
    kinds: dict[tuple[str, str], JobStatus] = {}
    totals: Counter[tuple[str, str]] = Counter()
    limits: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    reasons: dict[tuple[str, str], dict[str, Counter[str]]] = {}
    for job in jobs:
        kind = job.study, job.noun
        kinds.setdefault(kind, job)
        totals[kind] += 1
        if job.status == "ok":
            continue
        if limit := _limit(job.status, job.reason):
            limits.setdefault(kind, Counter())[limit["value"], limit["name"]] += 1
        else:
            status = job.status if job.status in _SERIOUS else "failed"
            of_status = reasons.setdefault(kind, {}).setdefault(status, Counter())
            of_status["" if status == NOT_RUN else _shorten(job.reason)] += 1

    losses = []
    for kind, first_job in kinds.items():
        names = first_job.study, first_job.noun, first_job.plural
        for (value, name), number in limits.get(kind, Counter()).items():
            pronoun = "its" if number == 1 else "their"
            predicate = f"reached {pronoun} limit of {value}; raise {name}"
            losses.append(MissingResult(*names, number, totals[kind], "timeout", predicate))
        for status, counts in reasons.get(kind, {}).items():
            for reason, number in _merge(counts):
                predicate = _predicate(status, number) + (f": {reason}" if reason else "")
                losses.append(MissingResult(*names, number, totals[kind], status, predicate))
    return sorted(losses, key=lambda loss: (_SERIOUS.index(loss.status), -loss.count))


def loss_sentences(jobs: Iterable[JobStatus]) -> list[str]:
    """Return the sentences of `collect_missing`."""
    return [loss.sentence for loss in collect_missing(jobs)]


def status_text(status: str, reason: str = "") -> str:
    """Return a status in words; a job that was stopped at any limit has ``reached a limit``."""
    return STATUS_TEXTS["timeout" if _limit(status, reason) else status]


def cause_text(status: str, reason: str) -> str:
    """Return a status and its reason in words, without saying the same thing twice."""
    if status == NOT_RUN:
        return STATUS_TEXTS[NOT_RUN]
    stands_alone = status == "ok" or _limit(status, reason)
    return reason if stands_alone else f"{status_text(status)}: {reason}"


def _limit(status: str, reason: str) -> re.Match[str] | None:
    return _LIMIT.match(reason) if status in ("failed", "timeout") else None


def _shorten(reason: str) -> str:
    """Return the first line of a reason, shortened to fit into a sentence."""
    first_line = " ".join(next(iter(reason.strip().splitlines()), "").split()).rstrip(".:; ")
    return (
        first_line
        if len(first_line) <= LONGEST_REASON
        else f"{first_line[: LONGEST_REASON - 1].rstrip()}…"
    )


def _merge(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return reasons and how often they occur; combine many different ones into one."""
    if len(counts) <= MOST_REASONS:
        return list(counts.items())
    (reason, _), *other_reasons = counts.most_common()
    return [(f"{reason} (and {len(other_reasons)} other reasons)", counts.total())]


def _predicate(status: str, number: int) -> str:
    """Return the verb phrase of a status for so many results."""
    is_single = number == 1
    return {
        "failed": "failed",
        "timeout": "reached a limit",
        NOT_RUN: f"{'has' if is_single else 'have'} not run yet",
        "unsupported": "does not apply to its network"
        if is_single
        else "do not apply to their network",
    }[status]

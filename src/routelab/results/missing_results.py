"""The jobs of a study that have no result, in sentences: one for each cause.

    failed            2 of 9 simulations of demo failed: no memory
    limit             2 of 9 simulations of demo reached their limit of 4 GB; raise limits.memory_gb
    timeout           1 of 9 simulations of demo reached a limit: stopped by the scheduler
    not-run           4 of 9 simulations of demo have not run yet
    unsupported       1 of 9 simulations of demo does not apply to its network: no escape routes

Jobs that reached a limit of the study have one sentence for each limit, as the fix differs.
"""

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

_LIMIT = "limit"
"""Cause of a job that reached a limit of its study: `failed` or `timeout` by its status."""

_PREDICATES = {
    "failed": ("failed", "failed"),
    _LIMIT: ("reached its limit of", "reached their limit of"),
    "timeout": ("reached a limit", "reached a limit"),
    NOT_RUN: ("has not run yet", "have not run yet"),
    "unsupported": ("does not apply to its network", "do not apply to their network"),
}
"""What happened to one job and to several, by cause; the most serious first."""

_REACHED = re.compile(
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
    study : str
    noun, plural : str
        What the jobs make: ``"simulation"``, ``"simulations"``.
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
        """What is missing, without the study: ``4 of 9 simulations have not run yet``."""
        return f"{self._subject} {self.predicate}"

    @property
    def sentence(self) -> str:
        """What is missing, with the study: ``4 of 9 simulations of demo have not run yet``."""
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
    # 1. Count the reasons of each cause. The reason of a limit is its value, with the key to raise:
    #    "4 GB; raise limits.memory_gb".
    totals: Counter[tuple[str, str, str]] = Counter()
    reasons: dict[tuple[tuple[str, str, str], str], Counter[str]] = {}
    for job in jobs:
        kind = job.study, job.noun, job.plural
        totals[kind] += 1
        if job.status == "ok":
            continue
        if limit := _match_limit(job.status, job.reason):
            cause, reason = _LIMIT, f"{limit['value']}; raise {limit['name']}"
        else:
            # a status that `_PREDICATES` does not know counts as a failure
            cause = job.status if job.status in _PREDICATES else "failed"
            reason = "" if cause == NOT_RUN else _shorten(job.reason)
        reasons.setdefault((kind, cause), Counter())[reason] += 1

    # 2. Make a sentence of each reason. Many reasons of a cause share one, but not limits: each of
    #    them names the key to raise.
    missing = []
    for (study, noun, plural), total in totals.items():
        for cause, (singular_predicate, plural_predicate) in _PREDICATES.items():
            counts = reasons.get(((study, noun, plural), cause), Counter())
            for reason, count in counts.items() if cause == _LIMIT else _merge(counts):
                predicate = singular_predicate if count == 1 else plural_predicate
                if reason:
                    predicate += f" {reason}" if cause == _LIMIT else f": {reason}"
                result = MissingResult(
                    study=study,
                    noun=noun,
                    plural=plural,
                    count=count,
                    total=total,
                    status="timeout" if cause == _LIMIT else cause,
                    predicate=predicate,
                )
                missing.append(result)
    # `_PREDICATES` has the most serious status first.
    severity = list(_PREDICATES)
    return sorted(missing, key=lambda result: (severity.index(result.status), -result.count))


def loss_sentences(jobs: Iterable[JobStatus]) -> list[str]:
    """Return the sentences of `collect_missing`."""
    return [result.sentence for result in collect_missing(jobs)]


def status_text(status: str, reason: str = "") -> str:
    """Return a status in words; a job that was stopped at any limit has ``reached a limit``."""
    return STATUS_TEXTS["timeout" if _match_limit(status, reason) else status]


def cause_text(status: str, reason: str) -> str:
    """Return a status and its reason in words, without saying the same thing twice."""
    if status == NOT_RUN:
        return STATUS_TEXTS[NOT_RUN]
    # The reason of a limit says "reached its limit of" itself.
    says_status = status == "ok" or _match_limit(status, reason)
    return reason if says_status else f"{status_text(status)}: {reason}"


def _match_limit(status: str, reason: str) -> re.Match[str] | None:
    """Match the reason of a job that reached a limit of its study; None for other jobs."""
    return _REACHED.match(reason) if status in ("failed", "timeout") else None


def _shorten(reason: str) -> str:
    """Return the first line of a reason, shortened to fit into a sentence."""
    first_line = " ".join(next(iter(reason.strip().splitlines()), "").split()).rstrip(".:; ")
    if len(first_line) <= LONGEST_REASON:
        return first_line
    return f"{first_line[: LONGEST_REASON - 1].rstrip()}…"


def _merge(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return reasons and how often they occur; combine many different ones into one."""
    if len(counts) <= MOST_REASONS:
        return list(counts.items())
    (reason, _), *other_reasons = counts.most_common()
    return [(f"{reason} (and {len(other_reasons)} other reasons)", counts.total())]

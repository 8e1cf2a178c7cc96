"""Messages and exit codes of expected errors."""

from __future__ import annotations

import logging
import re

LONGEST_WORD = 1000
"""Longest word of a message: names of networks with many failed links are shown completely."""


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which may change a terminal, and halves of characters, which it rejects."""


def safe_text(message: str) -> str:
    """Return a message with unprintable characters escaped, and very long words shortened."""
    # `repr` writes the escape character as '\x1b', in quotes
    escaped = _UNPRINTABLE.sub(lambda match: repr(match[0])[1:-1], message)
    # \S{1001,}: each run of more than `LONGEST_WORD` characters without a space
    too_long_word = rf"\S{{{LONGEST_WORD + 1},}}"
    return re.sub(
        too_long_word,
        lambda match: f"{match[0][:200]}...{match[0][-50:]} ({len(match[0])} characters)",
        escaped,
    )


def report_error(error: Exception | KeyboardInterrupt | SystemExit) -> int:
    """Print an expected error and return the exit code; raise other errors again."""
    from routelab.api.errors import RoutelabError

    logger = logging.getLogger(__name__)
    if isinstance(error, KeyboardInterrupt):
        logger.critical("interrupted")
        # 128 + SIGINT, as shells do
        return 130
    if isinstance(error, MemoryError):
        logger.error("not enough memory: %s; use a smaller input", error or "no details")
        return 1
    # Commands return their exit code, so only a plugin raises this, and its code does not count.
    if isinstance(error, SystemExit):
        from routelab.jobs.plugin_errors import sentence

        logger.error("%s", safe_text(sentence(error)))
        return 1
    if not isinstance(error, RoutelabError):
        raise error
    logger.error("%s", safe_text(str(error)))
    return error.exit_code

"""Messages and exit codes of expected errors."""

from __future__ import annotations

import logging


def explain(error: Exception | KeyboardInterrupt) -> int:
    """Print an expected error and return the exit code; raise other errors again.

    Input errors end with 2, other errors of routelab with 1, an interruption with 130.
    """
    from routelab.api.errors import InputError, RoutelabError

    logger = logging.getLogger(__name__)
    if isinstance(error, KeyboardInterrupt):
        logger.critical("interrupted")
        return 130
    if not isinstance(error, RoutelabError):
        raise error
    logger.error("%s", error)
    return 2 if isinstance(error, InputError) else 1

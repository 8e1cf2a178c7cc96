"""From errors that were raised on purpose to messages and exit codes."""

from __future__ import annotations

import sys


def explain(error: Exception) -> int:
    """Print such an error and return the exit code; others are raised again.

    Input errors end with 2, other errors of routelab with 1.
    """
    from routelab.api.errors import InputError, RoutelabError

    if not isinstance(error, RoutelabError):
        raise error
    print(f"routelab: error: {error}", file=sys.stderr)
    return 2 if isinstance(error, InputError) else 1

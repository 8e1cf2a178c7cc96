"""Requirements on plugins."""

from __future__ import annotations

from routelab.api import UnsupportedError


def require_support(plugin_name: str, reason: str | None) -> None:
    """Raise UnsupportedError if there is a reason why a plugin does not support its input.

    Parameters
    ----------
    plugin_name : str
    reason : str or None
        The answer of ``supports()``; None if the input is supported.
    """
    if reason is not None:
        raise UnsupportedError(f"{plugin_name}: {reason}")

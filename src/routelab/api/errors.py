"""Errors that routelab and its plugins raise on purpose.

Any other exception is a defect and keeps its traceback.
"""

from __future__ import annotations

from copyreg import __newobj__  # type: ignore[attr-defined]
from typing import Any


class RoutelabError(Exception):
    """Base of every error raised on purpose; its text is one clear message.

    A subclass may have other arguments than the text, as ``BenchmarkError(failure, message)``.
    """

    exit_code = 1
    """Exit code of a command that ends with this error."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how pickle copies the error, to bring it back from a child process.

        The default would call the class with the text alone, which fails for other arguments. This
        makes the object without ``__init__`` and restores its attributes.
        """
        return __newobj__, (type(self), *self.args), self.__dict__


class InputError(RoutelabError):
    """The user's input is wrong; the command ends with exit code 2.

    The message names the problem, the location and the fix.

    Examples
    --------
    >>> import routelab
    >>> try:
    ...     routelab.topology("torus~dims=4xtwo")
    ... except routelab.api.InputError:
    ...     print("wrong name")
    wrong name
    """

    exit_code = 2


class MissingInputError(InputError):
    """The input lacks what decides a verdict; the command ends with exit code 3.

    The message says what is missing, and names the location and the fix.
    """

    exit_code = 3


class UnsupportedError(RoutelabError):
    """An algorithm does not apply to this input; the text is the reason.

    It becomes an outcome with ``status = unsupported``, never a crash.
    """


class PluginError(RoutelabError):
    """A plugin breaks its contract; the text names the plugin, the expected and actual value."""

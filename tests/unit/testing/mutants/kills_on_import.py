"""A module whose import crashes the interpreter."""

import ctypes

ctypes.string_at(0)

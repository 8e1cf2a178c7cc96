"""The contract between plugins and the core: base classes, data and errors."""

from routelab._runtime.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)

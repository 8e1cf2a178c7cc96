from routelab.notebook import (
    RoutedNetwork,
    SimulatedNetwork,
    evaluate,
    plugins,
    route,
    simulate,
    topology,
)

__all__ = [
    "RoutedNetwork",
    "SimulatedNetwork",
    "__version__",
    "evaluate",
    "plugins",
    "route",
    "simulate",
    "topology",
]

__version__: str

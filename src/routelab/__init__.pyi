from routelab.notebook import (
    RoutedNetwork,
    SimulatedNetwork,
    evaluate,
    plugins,
    prove,
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
    "prove",
    "route",
    "simulate",
    "topology",
]

__version__: str

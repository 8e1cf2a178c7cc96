from routelab.notebook import RoutedNetwork, evaluate, plugins, route, topology

__all__ = ["RoutedNetwork", "__version__", "evaluate", "plugins", "route", "topology"]

__version__: str

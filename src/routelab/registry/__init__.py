"""Finding plugins and naming their instances.

`names` reads and writes instance names, `catalogue` finds the installed plugins, `contract` judges
them, `parameters` turns text into typed parameters, `compositions` forwards parameters to the
parts of a routing, and `instances` makes plugin objects from names.
"""

"""Registry of plugins and names of their instances.

`names` reads and writes instance names, `catalogue` finds the installed plugins, `contract` checks
them, `parameters` turns text into typed parameters, `compositions` forwards parameters to the
parts of a routing, and `instances` makes plugin objects from names.
"""

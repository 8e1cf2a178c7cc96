"""The commands of the command line, one module each.

A command module has ``add_parser(subparsers)``, which adds its parser and sets its ``run`` by
``set_defaults(run=...)``; ``run(arguments)`` does the work and returns the exit code. The parser's
``examples`` begin its help, and `routelab.cli.GROUPS` has the heading under which it is listed.
Every call imports all command modules, so their top-level imports must be fast; functions import
slow modules themselves. Modules whose names start with an underscore are not commands.
"""

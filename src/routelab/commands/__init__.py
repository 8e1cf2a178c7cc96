"""The commands of the command line, one module each.

A command module has ``add_parser(subparsers)``, which adds its parser and sets its ``run`` by
``set_defaults(run=...)``; ``run(arguments)`` does the work and returns the exit code. A module
imports only light things at its top, as all of them are imported on every call; what is heavy is
imported where it is used. Modules whose name starts with an underscore are no commands.
"""

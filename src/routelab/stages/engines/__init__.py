"""Run engines: build their cases, call them, write their results; and the engines of routelab.

The registry finds the engines here by their entry points, like those of other distributions. The
modules of this folder import none of them.
"""

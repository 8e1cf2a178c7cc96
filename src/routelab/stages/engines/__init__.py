"""Engines: build their cases, run them, write what they found; and the engines of routelab.

The engines here are found by their entry points, like those of other distributions. Nothing in
this package imports one of them.
"""

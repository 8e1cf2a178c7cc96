"""Checks of a cluster before any node-hour is spent."""

"""Inputs of the checks: networks, tables, jobs and parameters."""

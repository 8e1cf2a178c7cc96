"""Compiled parts of the bounds of throughput."""

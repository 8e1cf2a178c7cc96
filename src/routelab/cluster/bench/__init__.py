"""Measurements on real machines: launching programs, reading their output, statistics."""

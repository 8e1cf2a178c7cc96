"""Kernels of the metrics."""

"""Kernels of the deadlock checker: the states that packets of hop-by-hop algorithms reach."""

"""Measurement of packet simulations: warm-up, intervals, sweeps and the saturation search."""

"""Measuring on real machines: what is launched, what came back, and what is concluded from it."""

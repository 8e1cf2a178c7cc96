"""The bench stage: comparisons of routings by benchmarks on a real system."""

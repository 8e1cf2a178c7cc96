"""Real systems: comparisons by benchmarks, files of clusters, and InfiniBand fabrics."""

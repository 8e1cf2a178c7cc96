"""Traffic patterns and matrices."""

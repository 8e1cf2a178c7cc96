"""Jobs: one protocol for planning, batches, limits, resuming, progress and reports."""

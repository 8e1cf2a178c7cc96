"""Programs of MPI-like ranks: blocks, traces and regular patterns."""

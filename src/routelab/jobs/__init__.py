"""Child processes with limits, and the end of everything they started."""

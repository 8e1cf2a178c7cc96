"""From studies to jobs, and checks of studies before anything runs."""

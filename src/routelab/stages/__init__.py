"""The stages: load, compute, check, write. Commands, workflow and notebooks call these."""

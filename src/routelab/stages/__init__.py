"""Stages: load, compute, check and write. Commands, workflow and notebooks call them."""

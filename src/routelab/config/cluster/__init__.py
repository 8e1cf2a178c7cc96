"""Descriptions of clusters."""

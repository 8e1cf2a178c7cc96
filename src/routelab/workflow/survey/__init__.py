"""Rows of surveys."""

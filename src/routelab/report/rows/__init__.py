"""Rows of a study: its results as data frames, for tables and figures."""

"""Data frames of a study's results, for tables and figures."""

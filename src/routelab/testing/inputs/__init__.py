"""The networks, tables, jobs and parameters that plugins are checked with."""

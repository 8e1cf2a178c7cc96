"""Switching the routing of a real fabric, and restoring it in all cases."""

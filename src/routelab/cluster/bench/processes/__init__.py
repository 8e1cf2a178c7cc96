"""Processes with limits, and signals that ask a session to end."""

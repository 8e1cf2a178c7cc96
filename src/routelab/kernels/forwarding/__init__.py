"""Compiled code for forwarding tables: trees towards destinations, and layers of their routes."""

"""A network, a routing on it, and what is told about both."""

"""Built-in plugins of kind traffic."""

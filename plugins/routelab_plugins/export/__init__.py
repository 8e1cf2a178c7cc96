"""Built-in plugins of kind export."""

"""Built-in plugins of kind topology."""

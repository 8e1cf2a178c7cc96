"""Built-in plugins of kind metric."""

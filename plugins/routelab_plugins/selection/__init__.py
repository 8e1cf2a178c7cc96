"""Built-in plugins of kind selection."""

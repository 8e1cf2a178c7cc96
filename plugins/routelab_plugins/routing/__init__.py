"""Built-in plugins of kind routing."""

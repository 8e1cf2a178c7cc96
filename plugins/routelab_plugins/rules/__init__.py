"""Built-in plugins of kind rules."""

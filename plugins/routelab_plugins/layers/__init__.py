"""Built-in plugins of kind layers."""

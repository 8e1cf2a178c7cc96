"""Built-in plugins of kind fabric."""

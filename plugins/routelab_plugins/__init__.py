"""The built-in plugins; they use the same interfaces as third-party plugins."""

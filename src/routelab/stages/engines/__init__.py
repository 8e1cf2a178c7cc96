"""The plugin of the packet engine."""

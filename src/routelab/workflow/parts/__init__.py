"""The parts of a study: plugins with parameters, and settings."""

"""The flow engine: programs of ranks whose messages share the channels of a network."""

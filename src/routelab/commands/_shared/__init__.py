"""Code that several commands share: options, output, messages and errors."""

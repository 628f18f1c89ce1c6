"""The command line: one module a command, each importing heavy things inside its function."""

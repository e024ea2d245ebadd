"""The command line, `cognition …`."""

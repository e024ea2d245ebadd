"""The texts that models are given, one module per graph."""

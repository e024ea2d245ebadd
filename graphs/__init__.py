"""The graphs, as wiring only."""

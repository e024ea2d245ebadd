"""Graphs: wiring only."""

"""Benchmarks: the scripts behind every claim about speed and recall."""

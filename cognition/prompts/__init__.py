"""Prompts, one module per graph."""

"""Prompts, one module per graph, plus shared prompt blocks."""

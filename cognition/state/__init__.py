"""Graph states, one module per graph."""

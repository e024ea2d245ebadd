"""The in-process vector engine, based on qdrant-edge."""

"""The vector engine in this process, on qdrant-edge."""

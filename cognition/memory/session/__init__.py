"""Session memory: the searchable sources of each chat."""

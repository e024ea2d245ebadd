"""Session memory: the searchable sources of one chat."""

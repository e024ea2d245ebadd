"""The home folder: lock, free space, safe names and atomic writes."""

"""Taking in files: what may be given, what is read of it, and where it goes."""

"""Text extraction from files, and chunking of text."""

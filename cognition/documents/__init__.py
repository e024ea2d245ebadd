"""Files to text, and text to chunks."""

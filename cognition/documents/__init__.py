"""From a file to its text, and from a text to the chunks that are embedded."""

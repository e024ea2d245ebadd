"""Input and output on a terminal."""

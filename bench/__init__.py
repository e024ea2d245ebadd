"""What is claimed about speed and recall, and the scripts that print it."""

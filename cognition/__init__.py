"""What lies beneath the graphs; it knows nothing of them."""

"""A council of experts: whom it seats, what they say and hold, and what it comes to."""

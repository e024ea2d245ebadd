"""Messages of a thread: reducer, history and context window."""

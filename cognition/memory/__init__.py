"""Long-term memory and session memory."""

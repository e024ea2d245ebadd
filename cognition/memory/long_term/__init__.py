"""Long-term memory, one per user, kept across chats."""

"""Long-term memory: one per user, shared by all of the user's chats."""

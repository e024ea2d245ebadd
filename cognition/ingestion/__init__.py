"""Files of a chat: intake, text extraction, routing and summary."""

"""Text helpers: sanitizing, truncation, token estimates, plurals, language detection and escaped blocks."""

"""Text helpers: cleaning, truncation, tokens, plurals, languages and escaped blocks."""

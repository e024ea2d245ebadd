"""The graphs: nodes wired together, without logic of their own."""

"""Sub-agents on threads of their own: what one is asked, how it works on, what it reports."""

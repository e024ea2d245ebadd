"""The HTTP app that runs alongside the LangGraph API."""

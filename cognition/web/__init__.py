"""The HTTP routes beside those of the LangGraph server."""

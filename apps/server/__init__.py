"""The HTTP app served beside the LangGraph API."""

"""Ingestion of a chat's files: intake, text extraction, routing and summaries."""

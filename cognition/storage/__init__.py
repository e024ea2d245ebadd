"""Storage on this machine: database tables and files."""

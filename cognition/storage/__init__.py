"""What is kept on this machine: the folder and its SQLite files."""

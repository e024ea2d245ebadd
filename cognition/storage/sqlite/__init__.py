"""SQLite: databases, migrations and the checkpointer."""

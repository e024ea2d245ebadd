"""The database migrations, in order. Never change a migration that has been released."""

MIGRATIONS: tuple[str, ...] = (
    """CREATE TABLE resources (
        id TEXT PRIMARY KEY, user_id TEXT NOT NULL, chat_id TEXT NOT NULL, name TEXT NOT NULL,
        resource_type TEXT NOT NULL, mime TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
        status TEXT NOT NULL, summary TEXT NOT NULL DEFAULT '', storage_path TEXT NOT NULL DEFAULT '',
        chunks INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
        message_id TEXT NOT NULL DEFAULT '', created_at REAL NOT NULL, updated_at REAL NOT NULL
    ) STRICT""",
    "CREATE UNIQUE INDEX resources_of_a_chat ON resources (user_id, chat_id, sha256)",
    """CREATE TABLE sources (
        version INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, chat_id TEXT NOT NULL,
        source_id TEXT NOT NULL, state TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
        chunks INTEGER NOT NULL, embedded INTEGER NOT NULL, characters INTEGER NOT NULL,
        lines INTEGER NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL, tags TEXT NOT NULL,
        languages TEXT NOT NULL, preview TEXT NOT NULL, indexed_at REAL NOT NULL
    ) STRICT""",
    "CREATE INDEX sources_of_a_chat ON sources (user_id, chat_id, source_id)",
    """CREATE TABLE indexed_turns (
        user_id TEXT NOT NULL, chat_id TEXT NOT NULL, message_id TEXT NOT NULL,
        PRIMARY KEY (user_id, chat_id, message_id)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE cognitive_threads (
        user_id TEXT NOT NULL, chat_id TEXT NOT NULL, sub_sid TEXT NOT NULL, role TEXT NOT NULL,
        skill_id TEXT NOT NULL, level TEXT NOT NULL, status TEXT NOT NULL, steps INTEGER NOT NULL,
        last_exchange TEXT NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL,
        PRIMARY KEY (user_id, chat_id, sub_sid)
    ) STRICT""",
    """CREATE TABLE closings (
        user_id TEXT NOT NULL, chat_id TEXT NOT NULL, closed_at REAL NOT NULL, done INTEGER NOT NULL,
        PRIMARY KEY (user_id, chat_id)
    ) STRICT, WITHOUT ROWID""",
    "ALTER TABLE cognitive_threads ADD COLUMN policy TEXT NOT NULL DEFAULT 'AUTO_PRO'",
    "ALTER TABLE cognitive_threads ADD COLUMN memory TEXT NOT NULL DEFAULT 'on'",
    """CREATE TABLE chats (
        user_id TEXT NOT NULL, chat_id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (user_id, chat_id)
    ) STRICT, WITHOUT ROWID""",
)

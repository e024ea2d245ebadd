"""The long-term memory model: a fact in a meta-artifact, and its stored form."""

import re
import unicodedata
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Literal
from uuid import NAMESPACE_DNS, uuid5

from cognition.embedding import Stamp
from cognition.identity import check_user
from cognition.memory.long_term.labels import ARTIFACTS, LESSONS, USER_PROFILE
from cognition.text.sanitize import clean
from cognition.vectors import CollectionSpec

COLLECTION: Final = "echo_meta_artifacts"
AXIOM: Final = 5
"""The highest importance, reserved for what the user said."""

KEPT_TEXTS: Final = 5
"""Number of older texts to keep per memory."""

TEXT_KEY: Final = "text_key"
"""The payload field with the `text_key` of the fact."""

Origin = Literal["user", "assistant", "document"]


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A fact remembered about a user. Times are unix seconds."""

    user_id: str
    memory_id: str
    artifact_name: str
    fact: str
    memory_importance: int
    created_at: float
    updated_at: float
    chat_id: str = ""
    """The chat it was learnt in. Closing that chat does not delete it."""
    tags: list[str] = field(default_factory=list)
    origin: Origin = "assistant"
    language: str = "en"
    last_recalled_at: float | None = None
    recall_count: int = 0
    superseded: list[dict[str, Any]] = field(default_factory=list)
    """The older texts, oldest first: the fields of each, and `at`, the time of its replacement."""
    embedding_model: str = ""

    @property
    def updated_on(self) -> str:
        """The UTC date of the last change."""
        return datetime.fromtimestamp(self.updated_at, UTC).date().isoformat()

    @property
    def point_id(self) -> str:
        """The id of the memory's point."""
        return point_id(self.user_id, self.memory_id)

    def payload(self) -> dict[str, Any]:
        """Return the point's payload, including the key for finding identical texts."""
        return {**asdict(self), TEXT_KEY: text_key(self.fact)}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "Memory":
        """Create a memory from a payload."""
        return cls(**{name.name: payload[name.name] for name in fields(cls) if name.name in payload})


def collection_spec(stamp: Stamp) -> CollectionSpec:
    """Return the schema of the long-term memory collection for an embedding model."""
    return CollectionSpec(
        COLLECTION,
        stamp,
        keywords=("artifact_name", "tags", "language", "chat_id", "memory_id", TEXT_KEY),
        integers=("memory_importance",),
        floats=("updated_at",),
    )


def point_id(user_id: str, memory_id: str) -> str:
    """Return the UUIDv5 of `{user_id}_{memory_id}` in the DNS namespace.

    Underscores in the user id are doubled. Since a memory id has no consecutive, leading or trailing
    underscores, `a` with `b_c` and `a_b` with `c` are different points.

    Raises:
        InvalidInput: If the user is blank, not a string, or not valid Unicode.
    """
    check_user(user_id)
    return str(uuid5(NAMESPACE_DNS, f"{user_id.replace('_', '__')}_{clean(memory_id)}"))


def normalized(text: str) -> str:
    """Normalise the Unicode form, case and whitespace of a text.

    Uses NFC, because NFKC would turn `10²` into `102`.
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


BUILT_IN: Final = {
    normalized(spelling): stored
    for stored in (USER_PROFILE, LESSONS)
    for spelling in (stored, *(names[stored] for names in ARTIFACTS.values() if names))
}
"""The built-in artifacts, by each of their names in normalised form."""


def text_key(text: str) -> str:
    """Return a key that is equal for texts that differ only in Unicode form, case or whitespace."""
    return sha256(normalized(text).encode("utf-8", "replace")).hexdigest()


def tidy_name(name: str) -> str:
    """Normalise a name: composed Unicode, straight apostrophes, and single spaces without surrounding ones.

    The two built-in artifacts are recognised in any case and by their translations.
    """
    tidy = " ".join(unicodedata.normalize("NFC", clean(name)).replace("’", "'").split())
    return BUILT_IN.get(normalized(tidy), tidy)


def snake_case(name: str) -> str:
    """Convert a text to a memory id: lower-case ASCII words joined by underscores, up to 64 characters."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "_".join(re.findall(r"[a-z0-9]+", plain))[:64].strip("_")


def derived_id(fact: str) -> str:
    """Derive a memory id from a fact; the same fact always gives the same id."""
    words = "_".join(snake_case(normalized(fact)).split("_")[:5])[:50].strip("_")
    return f"{words or 'memory'}_{text_key(fact)[:8]}"

"""A long-term memory: a fact under a meta-artifact, and how it is stored."""

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
KEPT_TEXTS: Final = 5
"""How many older texts a memory keeps."""

TEXT_KEY: Final = "text_key"
"""The payload field that holds the `text_key` of the fact."""

Origin = Literal["user", "assistant", "document"]


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What is remembered of a user. Times are unix seconds, UTC."""

    user_id: str
    memory_id: str
    artifact_name: str
    fact: str
    memory_importance: int
    created_at: float
    updated_at: float
    chat_id: str = ""
    """Where it was learnt; never a reason to delete it."""
    tags: list[str] = field(default_factory=list)
    origin: Origin = "assistant"
    language: str = "en"
    last_recalled_at: float | None = None
    recall_count: int = 0
    superseded: list[dict[str, Any]] = field(default_factory=list)
    """The last older texts, oldest first: what belonged to each, and `at`, when it was replaced."""
    embedding_model: str = ""

    @property
    def updated_on(self) -> str:
        """The UTC date of its last change."""
        return datetime.fromtimestamp(self.updated_at, UTC).date().isoformat()

    @property
    def point_id(self) -> str:
        """The id of its point."""
        return point_id(self.user_id, self.memory_id)

    def payload(self) -> dict[str, Any]:
        """The point's payload, with the key by which the same text is found again."""
        return {**asdict(self), TEXT_KEY: text_key(self.fact)}

    @classmethod
    def from_payload(cls, payload: dict[str, Any]) -> "Memory":
        """The memory that a payload holds."""
        return cls(**{name.name: payload[name.name] for name in fields(cls) if name.name in payload})


def collection_spec(stamp: Stamp) -> CollectionSpec:
    """The collection of long-term memories for an embedding model."""
    return CollectionSpec(
        COLLECTION,
        stamp,
        keywords=("artifact_name", "tags", "language", "chat_id", "memory_id", TEXT_KEY),
        integers=("memory_importance",),
        floats=("updated_at",),
    )


def point_id(user_id: str, memory_id: str) -> str:
    """UUIDv5, DNS namespace, of `{user_id}_{memory_id}`.

    Underscores of the user are doubled: a memory's id has no two in a row and none at its ends, so that `a`
    with `b_c` and `a_b` with `c` are two points.

    Raises:
        InvalidInput: The user is nobody.
    """
    check_user(user_id)
    return str(uuid5(NAMESPACE_DNS, f"{user_id.replace('_', '__')}_{clean(memory_id)}"))


def normalized(text: str) -> str:
    """The text without what makes no difference: Unicode form, case and spaces.

    NFC, because NFKC would make `10²` the same as `102`.
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


BUILT_IN: Final = {
    normalized(spelling): stored
    for stored in (USER_PROFILE, LESSONS)
    for spelling in (stored, *(names[stored] for names in ARTIFACTS.values() if names))
}
"""The built-in artifacts by every name that stands for them."""


def text_key(text: str) -> str:
    """The same for two texts that differ in nothing that matters."""
    return sha256(normalized(text).encode("utf-8", "replace")).hexdigest()


def tidy_name(name: str) -> str:
    """A name in one spelling: composed Unicode, straight apostrophes, single spaces and none around it.

    The two built-in artifacts are known in any case, and by their translations.
    """
    tidy = " ".join(unicodedata.normalize("NFC", clean(name)).replace("’", "'").split())
    return BUILT_IN.get(normalized(tidy), tidy)


def snake_case(name: str) -> str:
    """A memory's id from any text: lower-case ASCII words with single underscores, at most 64 characters."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "_".join(re.findall(r"[a-z0-9]+", plain))[:64].strip("_")


def derived_id(fact: str) -> str:
    """An id from the fact itself, so that the same fact always has the same one."""
    words = "_".join(snake_case(normalized(fact)).split("_")[:5])[:50].strip("_")
    return f"{words or 'memory'}_{text_key(fact)[:8]}"

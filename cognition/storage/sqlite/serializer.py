"""How threads are written: strict msgpack that does not rebuild a long conversation at every read."""

from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from typing import Any, Self

from langgraph.checkpoint.serde.jsonplus import EXT_DELTA_SNAPSHOT, JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # what a delta channel leaves in a checkpoint

REMEMBERED = 8
"""Snapshots kept in memory, each about twice the size of its thread's text."""


class ThreadSerializer(JsonPlusSerializer):
    """Strict for every graph: what a graph's state declares adds nothing to what may be built."""

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[tuple[str, ...] | type]) -> Self:
        """Itself. A graph within a graph would have it copied, with a saver that the server can't copy."""
        return self


def thread_serializer() -> JsonPlusSerializer:
    """A serializer of messages and plain JSON values; nothing else is ever built from a thread.

    Each turn starts by reading the thread's newest snapshot, and building its messages would come to be most
    of a long chat's work. So the newest ones read are remembered by their bytes, and handed out as copies.
    """
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    build = strict._unpack_ext_hook

    @lru_cache(maxsize=REMEMBERED)
    def snapshot(data: bytes) -> Any:
        return build(EXT_DELTA_SNAPSHOT, data).value

    def unpack(code: int, data: bytes) -> Any:
        if code != EXT_DELTA_SNAPSHOT:
            return build(code, data)
        value = snapshot(data)
        return _DeltaSnapshot([copy(item) for item in value] if isinstance(value, list) else value)

    return ThreadSerializer(allowed_msgpack_modules=None, __unpack_ext_hook__=unpack)

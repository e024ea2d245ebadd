"""The serializer of threads: strict msgpack, with a cache of recently read snapshots."""

from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from typing import Any, Self

from langgraph.checkpoint.serde.jsonplus import EXT_DELTA_SNAPSHOT, JsonPlusSerializer
from langgraph.checkpoint.serde.types import _DeltaSnapshot  # a snapshot in a delta channel

CACHED_SNAPSHOTS = 8
"""Number of snapshots kept in memory, each about twice the size of its thread's text."""


class ThreadSerializer(JsonPlusSerializer):
    """A serializer that is strict for every graph: state schemas cannot extend the allowlist of types."""

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[tuple[str, ...] | type]) -> Self:
        """Return this serializer unchanged.

        A copy for a subgraph would need a copy of the checkpointer too, which the server cannot make.
        """
        return self


def thread_serializer() -> JsonPlusSerializer:
    """Return a serializer that creates only messages and plain JSON values when it reads a thread.

    Every turn starts by reading the thread's latest snapshot. In a long chat, rebuilding its messages would
    take most of the time, so recently read snapshots are cached by their bytes and returned as copies.
    """
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    deserialize = strict._unpack_ext_hook

    @lru_cache(maxsize=CACHED_SNAPSHOTS)
    def snapshot(data: bytes) -> Any:
        return deserialize(EXT_DELTA_SNAPSHOT, data).value

    def unpack(code: int, data: bytes) -> Any:
        if code != EXT_DELTA_SNAPSHOT:
            return deserialize(code, data)
        value = snapshot(data)
        return _DeltaSnapshot([copy(item) for item in value] if isinstance(value, list) else value)

    return ThreadSerializer(allowed_msgpack_modules=None, __unpack_ext_hook__=unpack)

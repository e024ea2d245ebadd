"""Any sentence-transformers model, from a folder or the hub: for quality, such as BAAI/bge-m3."""

import hashlib
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from cognition.embedding.embedder import Embedder, EmbeddingUnavailable, Stamp, TextRole, Vectors

# E5 models were trained with these, and older ones do not carry them in their configuration.
E5_PROMPTS = {"query": "query: ", "passage": "passage: "}
PROMPT_NAMES: dict[TextRole, tuple[str, ...]] = {
    "query": ("query",),
    "passage": ("document", "passage", "corpus"),
}
DEFAULT_MAX_TOKENS = 512


class SentenceTransformerModel(Embedder):
    """A model of that library, with its own prompts; its anchors are measured, not shipped."""

    def __init__(self, name: str) -> None:
        self._model = _load(name)
        # The tokenizer keeps its padding and truncation as state: two threads would mix them up.
        self._one_at_a_time = threading.Lock()
        self._prompts: dict[TextRole, str] = {
            role: _prompt(self._model.prompts, role, name) for role in PROMPT_NAMES
        }
        self.stamp = _stamp(self._model, name)
        longest_prompt = max(self._count(prompt) for prompt in self._prompts.values())
        self.max_tokens = (self._model.max_seq_length or DEFAULT_MAX_TOKENS) - longest_prompt
        self.chunk_tokens = min(400, self.max_tokens)

    def _count(self, text: str) -> int:
        """Tokens with the special ones, without the prompt of a role."""
        with self._one_at_a_time:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        with self._one_at_a_time:
            vectors = encode(
                list(texts),
                prompt=self._prompts[role],
                batch_size=8,  # larger padded batches of long texts are slower on a CPU, and take more memory
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)


def _load(name: str) -> SentenceTransformer:
    folder = Path(name).expanduser()
    if folder.is_dir():
        name = str(folder)
    try:
        # What is there already needs no network, which would cost seconds at each start.
        return SentenceTransformer(name, local_files_only=True)
    except (OSError, ValueError) as error:
        if folder.is_dir():
            msg = f"The folder {name!r} holds no sentence-transformers model: {error}"
            raise EmbeddingUnavailable(msg) from error
    try:
        return SentenceTransformer(name)
    except (OSError, ValueError) as error:
        msg = (
            f"The embedding model {name!r} is not on this machine, neither as a folder nor in the cache of "
            f"the Hugging Face hub, and the hub does not deliver it. Check the name, connect once so that it "
            f"can be fetched, or give the folder of a copy."
        )
        raise EmbeddingUnavailable(msg) from error


def _prompt(prompts: dict[str, str], role: TextRole, name: str) -> str:
    """The model's prompt for a role; the library itself prefers an empty `document` to a `passage`."""
    if not any(prompts.values()) and re.search(r"(?<![a-z0-9])e5(?![a-z0-9])", name.lower()):
        return E5_PROMPTS[role]
    return next((prompts[key] for key in PROMPT_NAMES[role] if prompts.get(key)), "")


def _stamp(model: SentenceTransformer, name: str) -> Stamp:
    """The hub's commit, or for a folder the digest of its weights, which a move of the folder keeps."""
    dims = model.get_embedding_dimension()
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return Stamp(name, str(model[0].model.config._commit_hash), dims)
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.safetensors"), *folder.rglob("*.bin")]):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return Stamp(folder.resolve().name, digest.hexdigest()[:12], dims)

"""Any sentence-transformers model from a folder or the Hugging Face hub, such as BAAI/bge-m3."""

import hashlib
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from cognition.embedding.embedder import Embedder, EmbeddingUnavailable, Stamp, TextRole, Vectors

# E5 models were trained with these prompts, but older ones do not list them in their configuration.
E5_PROMPTS = {"query": "query: ", "passage": "passage: "}
PROMPT_NAMES: dict[TextRole, tuple[str, ...]] = {
    "query": ("query",),
    "passage": ("document", "passage", "corpus"),
}
DEFAULT_MAX_TOKENS = 512


class SentenceTransformerModel(Embedder):
    """A sentence-transformers model with its own prompts. It must be calibrated before use."""

    def __init__(self, name: str) -> None:
        self._model = _load(name)
        # The tokenizer keeps padding and truncation as state, so it is not thread-safe.
        self._lock = threading.Lock()
        self._prompts: dict[TextRole, str] = {
            role: _prompt(self._model.prompts, role, name) for role in PROMPT_NAMES
        }
        self.stamp = _stamp(self._model, name)
        longest_prompt = max(self._count(prompt) for prompt in self._prompts.values())
        self.max_tokens = (self._model.max_seq_length or DEFAULT_MAX_TOKENS) - longest_prompt
        self.chunk_tokens = min(400, self.max_tokens)

    def _count(self, text: str) -> int:
        """Count tokens, including special tokens but not the prompt of a role."""
        with self._lock:
            return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def _encode(self, texts: Sequence[str], role: TextRole) -> Vectors:
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        with self._lock:
            vectors = encode(
                list(texts),
                prompt=self._prompts[role],
                batch_size=8,  # larger padded batches of long texts are slower on a CPU and use more memory
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return np.asarray(vectors, dtype=np.float32)


def _load(name: str) -> SentenceTransformer:
    folder = Path(name).expanduser()
    if folder.is_dir():
        name = str(folder)
    try:
        # Try the local copy first: asking the hub would add seconds to each start.
        return SentenceTransformer(name, local_files_only=True)
    except (OSError, ValueError) as error:
        if folder.is_dir():
            msg = f"The folder {name!r} does not contain a sentence-transformers model: {error}"
            raise EmbeddingUnavailable(msg) from error
    try:
        return SentenceTransformer(name)
    except (OSError, ValueError) as error:
        msg = (
            f"Could not find the embedding model {name!r}: it is neither a folder nor in the cache of the "
            "Hugging Face hub, and could not be downloaded. Check the name, connect to the internet once to "
            "download it, or give the folder of a copy."
        )
        raise EmbeddingUnavailable(msg) from error


def _prompt(prompts: dict[str, str], role: TextRole, name: str) -> str:
    """Return the model's prompt for a role, since the library prefers an empty `document` to `passage`."""
    if not any(prompts.values()) and re.search(r"(?<![a-z0-9])e5(?![a-z0-9])", name.lower()):
        return E5_PROMPTS[role]
    return next((prompts[key] for key in PROMPT_NAMES[role] if prompts.get(key)), "")


def _stamp(model: SentenceTransformer, name: str) -> Stamp:
    """Return the stamp, with the hub's commit or, for a folder, a hash of its weights as the revision."""
    dims = model.get_embedding_dimension()
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return Stamp(name, str(model[0].model.config._commit_hash), dims)
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.safetensors"), *folder.rglob("*.bin")]):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return Stamp(folder.resolve().name, digest.hexdigest()[:12], dims)

from pathlib import Path

import pytest

from cognition.embedding import Embedder, load_embedder


@pytest.fixture(scope="session")
def e5() -> Embedder:
    return load_embedder("e5-small", Path())


@pytest.fixture(scope="session")
def use() -> Embedder:
    return load_embedder("use-multilingual", Path())


@pytest.fixture(params=["e5-small", "use-multilingual"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return load_embedder(request.param, Path())

"""Tests of the settings, and of the levels and prices that depend on them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from cognition.errors import InvalidInput
from cognition.levels import LEVELS, ceiling, lower_levels, start_level, targets
from cognition.models.client import Models
from cognition.models.pricing import cost
from cognition.settings import Settings, process_settings


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNITION_MAX_MODEL_CALLS", "7")
    monkeypatch.setenv("COGNITION_IMPORTANCE_WEIGHTS", "[1, 1, 1, 1, 2]")
    settings = Settings()
    assert settings.max_model_calls == 7
    assert settings.importance_weights[4] == 2


@pytest.mark.parametrize("name", ["gemini-3.8-flash", "google_genai:", ":gemini"])
def test_p76_a_model_without_a_provider_is_rejected_at_start(name: str) -> None:
    with pytest.raises(ValidationError, match="provider:model"):
        Settings(model_pro=name)


@pytest.mark.parametrize(
    "weights", ["[0, 1, 1, 1, 1]", "[1, 1, 1, 1, -2]", "[1, 1, 1, 1]", '[1, 1, 1, 1, "NaN"]']
)
def test_p77_weights_that_would_reverse_the_ranking_are_rejected(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNITION_IMPORTANCE_WEIGHTS", weights)
    with pytest.raises(ValidationError, match="importance_weights"):
        Settings()


def test_a_tilde_expands_to_the_users_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COGNITION_HOME", "~/memories")
    assert Settings().home == tmp_path / "memories"


def test_an_env_file_that_is_not_utf8_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_bytes(b"GOOGLE_API_KEY=caf\xe9")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(Settings.model_config, "env_file", ".env")
    process_settings.cache_clear()
    with pytest.raises(InvalidInput, match="Save it as UTF-8"):
        process_settings()


def test_p77_zero_model_calls_are_rejected() -> None:
    with pytest.raises(ValidationError, match="max_model_calls"):
        Settings(max_model_calls=0)


def test_the_models_are_rehearsed_only_without_a_key() -> None:
    assert Models(Settings()).rehearsed
    assert not Models(Settings(GOOGLE_API_KEY="key")).rehearsed
    local = {name: "ollama:qwen" for name in ("model_lite", "model_flash", "model_pro")}
    assert not Models(Settings(**local)).rehearsed


def test_distillation_defaults_to_the_light_model() -> None:
    assert Models(Settings()).name("MODEL_DISTILLATION") == Settings().model_lite
    assert Models(Settings(model_distillation="a:b")).name("MODEL_DISTILLATION") == "a:b"


def test_the_levels_of_a_policy() -> None:
    assert [start_level(p) for p in ("AUTO", "AUTO_PRO", "MODEL_PRO")] == [
        "MODEL_LITE",
        "MODEL_LITE",
        "MODEL_PRO",
    ]
    assert (ceiling("AUTO"), ceiling("AUTO_PRO"), ceiling("MODEL_LITE")) == (
        "MODEL_FLASH",
        "MODEL_PRO",
        "MODEL_LITE",
    )
    assert targets("MODEL_FLASH", "AUTO") == ()
    assert lower_levels("MODEL_PRO") == (LEVELS[1], LEVELS[0])


def test_only_known_models_have_a_price() -> None:
    assert cost("google_genai:gemini-2.5-flash", 1_000_000, 1_000_000) == pytest.approx(2.80)
    assert cost("google_genai:gemini-9-unheard", 10, 10) is None

"""All settings of the application, read from the environment and `.env`."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from cognition.errors import InvalidInput

Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """The settings of a process. The tables of settings in the READMEs are generated from these fields."""

    model_config = SettingsConfigDict(
        env_prefix="COGNITION_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    home: Path = Field(
        default=Path(".cognition"),
        description="Folder for all stored data; a relative path is resolved against the current folder.",
    )

    google_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        description="Gemini API key. Without one, answers are simulated, and each one says so.",
    )
    gemini_url: str = Field(
        default="",
        validation_alias="GOOGLE_GEMINI_BASE_URL",
        description="Alternative base URL of the Gemini API, such as a proxy.",
    )
    model_lite: str = Field(
        default="google_genai:gemini-3.5-flash-lite",
        description="Model of `MODEL_LITE`, the level where turns start, as `provider:model`.",
    )
    model_flash: str = Field(
        default="google_genai:gemini-3.8-flash", description="Model of `MODEL_FLASH`, as `provider:model`."
    )
    model_pro: str = Field(
        default="google_genai:gemini-3.1-pro-preview",
        description="Model of `MODEL_PRO`, as `provider:model`.",
    )
    model_distillation: str = Field(
        default="",
        description="Model that distils memories, as `provider:model`; empty for the model of `MODEL_LITE`.",
    )

    escalation_scope: Literal["turn", "thread"] = Field(
        default="turn",
        description="`turn`: each turn starts at the lowest level; `thread`: where the last one ended.",
    )
    max_model_calls: int = Field(default=40, ge=1, description="Maximum number of model calls in a turn.")
    max_transfers: int = Field(default=5, ge=0, description="Maximum number of level changes in a turn.")
    call_seconds: float = Field(
        default=120, gt=0, description="Timeout of a model call in seconds, retries included."
    )
    turn_seconds: float = Field(default=600, gt=0, description="Timeout of a turn in seconds.")
    context_tokens: int = Field(
        default=65_536,
        ge=1_000,
        description="Context size in tokens; above 60 %, the oldest turns are dropped from the prompt.",
    )

    memory_embedding: str = Field(
        default="e5-small",
        description="Embedding model of long-term memory: `e5-small`, `use-multilingual`, or the name or "
        "folder of a sentence-transformers model such as `BAAI/bge-m3`.",
    )
    session_embedding: str = Field(
        default="use-multilingual",
        description="Embedding model of session memory, with the same choices: `use-multilingual` indexes "
        "files many times faster than `e5-small`, which finds more.",
    )
    recall: bool = Field(
        default=True,
        description="Add the memories nearest to each message to the prompt automatically, relevant or not.",
    )
    index_conversation: bool = Field(
        default=True,
        description="Index the turns of a chat in its session memory, so that they can be searched.",
    )
    importance_weights: tuple[Weight, Weight, Weight, Weight, Weight] = Field(
        default=(0.55, 0.75, 1.0, 1.3, 1.7),
        description="Weights of the importances 1–5 of a memory in recall, as a JSON list.",
    )

    council_max_participants: int = Field(
        default=5, ge=2, description="Maximum number of experts in a council."
    )
    council_rounds_default: int = Field(
        default=3, ge=1, description="Rounds of a council if the caller doesn't set them."
    )
    council_rounds_max: int = Field(default=5, ge=1, description="Maximum number of rounds of a council.")
    council_seconds: float = Field(
        default=900,
        gt=0,
        description="Timeout of a council in seconds; the contributions made by then are synthesised.",
    )

    delegate_max_calls: int = Field(
        default=25,
        ge=1,
        le=50,
        description="Maximum number of tool calls of a sub-agent in a turn; then it must answer.",
    )

    file_roots: tuple[Path, ...] = Field(
        default=(),
        description="Folders to which paths passed to the `ingestion` graph are restricted, as a JSON list. "
        "None by default, because anyone who can reach the server can pass a path. Uploaded content and "
        "paths given on the command line are not restricted.",
    )
    file_bytes: int = Field(default=512 << 20, ge=1, description="Maximum size of a file in bytes.")
    context_file_bytes: int = Field(
        default=32 << 10,
        ge=0,
        description="Size of a file's text in bytes from which it is searched instead of shown in full.",
    )
    context_media_bytes: int = Field(
        default=1 << 20,
        ge=0,
        description="Size in bytes from which an image, audio or video file is described instead of shown.",
    )
    crowded_file_bytes: int = Field(
        default=2 << 10,
        ge=0,
        description="Maximum size in bytes of a file shown in full when the context is more than 30 % full.",
    )
    summary_excerpts: int = Field(
        default=10, ge=2, le=50, description="Number of excerpts used to summarise a large file."
    )

    @field_validator("home")
    @classmethod
    def _expand_home(cls, value: Path) -> Path:
        return value.expanduser()  # no shell expands the values in `.env`

    @field_validator("model_lite", "model_flash", "model_pro", "model_distillation")
    @classmethod
    def _check_provider(cls, value: str) -> str:
        if value and not all(value.partition(":")):
            msg = f"Invalid model {value!r}: expected provider:model, such as google_genai:gemini-3.8-flash."
            raise ValueError(msg)
        return value


@lru_cache(maxsize=1)
def process_settings() -> Settings:
    """Return the settings of this process, which are read once.

    Raises:
        InvalidInput: If `.env` is not valid UTF-8.
    """
    try:
        return Settings()
    except UnicodeDecodeError as error:
        msg = f"Could not read the file '.env' ({error}). Save it as UTF-8."
        raise InvalidInput(msg) from error

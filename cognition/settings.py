"""Every knob of the application, in one place, read from the environment and `.env`."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from cognition.errors import InvalidInput

Weight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """The settings of a process. The README's table of them is generated from these fields."""

    model_config = SettingsConfigDict(
        env_prefix="COGNITION_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    home: Path = Field(
        default=Path(".cognition"),
        description="Folder that holds everything stored; a relative path starts in the current folder.",
    )

    google_api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        description="Gemini API key. Without one, scripted models answer and every answer says so.",
    )
    gemini_url: str = Field(
        default="",
        validation_alias="GOOGLE_GEMINI_BASE_URL",
        description="Another address of the Gemini API, such as a proxy.",
    )
    model_lite: str = Field(
        default="google_genai:gemini-3.5-flash-lite",
        description="`provider:model` of `MODEL_LITE`, where a turn starts.",
    )
    model_flash: str = Field(
        default="google_genai:gemini-3.8-flash", description="`provider:model` of `MODEL_FLASH`."
    )
    model_pro: str = Field(
        default="google_genai:gemini-3.1-pro-preview", description="`provider:model` of `MODEL_PRO`."
    )
    model_distillation: str = Field(
        default="", description="`provider:model` that distils memories; empty: the one of `MODEL_LITE`."
    )

    escalation_scope: Literal["turn", "thread"] = Field(
        default="turn",
        description="`turn`: the next turn starts low again; `thread`: it starts where the last one ended.",
    )
    max_model_calls: int = Field(default=40, ge=1, description="Model calls in one turn.")
    max_transfers: int = Field(default=5, ge=0, description="Changes of level in one turn.")
    call_seconds: float = Field(
        default=120, gt=0, description="Seconds for one model call, retries included."
    )
    turn_seconds: float = Field(default=600, gt=0, description="Seconds for one turn.")
    context_tokens: int = Field(
        default=65_536,
        ge=1_000,
        description="Tokens of context the levels work with; past 60 % the oldest turns leave the prompt.",
    )

    memory_embedding: str = Field(
        default="e5-small",
        description="Embedding of long-term memory: `e5-small`, `use-multilingual`, or the name or folder of "
        "a sentence-transformers model such as `BAAI/bge-m3`.",
    )
    session_embedding: str = Field(
        default="use-multilingual",
        description="Embedding of session memory, of the same models: `use-multilingual` takes files in "
        "many times faster than `e5-small`, which finds more.",
    )
    recall: bool = Field(
        default=True,
        description="Whether the memories that are nearest to a message, fitting or not, are put before the "
        "model without being asked.",
    )
    index_conversation: bool = Field(
        default=True,
        description="Whether the turns of a chat go into its session memory, where they are found again.",
    )
    importance_weights: tuple[Weight, Weight, Weight, Weight, Weight] = Field(
        default=(0.55, 0.75, 1.0, 1.3, 1.7),
        description="What the importances 1–5 of a memory weigh in recall, as a JSON list.",
    )

    council_max_participants: int = Field(default=5, ge=2, description="Experts in one council.")
    council_rounds_default: int = Field(
        default=3, ge=1, description="Rounds of a council when the caller doesn't say."
    )
    council_rounds_max: int = Field(default=5, ge=1, description="Most rounds of a council.")
    council_seconds: float = Field(
        default=900,
        gt=0,
        description="Seconds for a whole council; what was said by then is synthesised.",
    )

    delegate_max_calls: int = Field(
        default=25, ge=1, le=50, description="Tool calls of a sub-agent in one turn; then it must answer."
    )

    file_roots: tuple[Path, ...] = Field(
        default=(),
        description="Folders that paths given to the `ingestion` graph may lie in, as a JSON list. None "
        "unless set: whoever reaches the server may give a path. What is sent as contents, and what is "
        "typed at the command line, may come from anywhere.",
    )
    file_bytes: int = Field(default=512 << 20, ge=1, description="Bytes of the largest file that is taken.")
    context_file_bytes: int = Field(
        default=32 << 10, ge=0, description="Bytes of text from which a file is searched and not shown whole."
    )
    context_media_bytes: int = Field(
        default=1 << 20,
        ge=0,
        description="Bytes from which an image, audio or video is described and not shown itself.",
    )
    crowded_file_bytes: int = Field(
        default=2 << 10,
        ge=0,
        description="The largest file that is still shown whole when the context is more than 30 % full.",
    )
    summary_excerpts: int = Field(
        default=10, ge=2, le=50, description="Excerpts of a large file that its summary is written from."
    )

    @field_validator("home")
    @classmethod
    def _starts_from_the_users_home(cls, value: Path) -> Path:
        return value.expanduser()  # no shell has read what stands in `.env`

    @field_validator("model_lite", "model_flash", "model_pro", "model_distillation")
    @classmethod
    def _names_its_provider(cls, value: str) -> str:
        if value and not all(value.partition(":")):
            msg = f"{value!r} is no model: write it as provider:model, such as google_genai:gemini-3.8-flash."
            raise ValueError(msg)
        return value


@lru_cache(maxsize=1)
def process_settings() -> Settings:
    """The settings of this process, read once.

    Raises:
        InvalidInput: `.env` is no text.
    """
    try:
        return Settings()
    except UnicodeDecodeError as error:
        msg = f"The file '.env' can't be read ({error}): save it as UTF-8."
        raise InvalidInput(msg) from error

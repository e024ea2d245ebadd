"""The checks that make Gemini reject a request, with Gemini's status codes and messages."""

import re
from collections.abc import Iterator
from typing import Any, Final

from cognition.rehearsal.signatures import is_skip_marker, signer

SCHEMA_KEYS: Final = frozenset(
    (
        *("type", "format", "title", "description", "nullable", "enum", "items", "properties", "required"),
        *("minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength", "pattern"),
        *("minimum", "maximum", "example", "anyOf", "propertyOrdering", "default"),
    )
)
"""The keys of the OpenAPI subset that function declarations may use."""

Json = dict[str, Any]


class Refusal(Exception):
    """An error response to a request that Gemini would reject."""

    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = status

    def body(self) -> Json:
        """Return the error body of the REST API."""
        return {"error": {"code": self.code, "message": str(self), "status": self.status}}


def is_gemini_3(model: str) -> bool:
    """Return True if a model checks thought signatures."""
    match = re.match(r"gemini-(\d+)", model)
    return bool(match and int(match[1]) >= 3)


def check_key(key: str | None) -> None:
    """Reject a request without an API key."""
    if not key:
        raise Refusal(
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity). Please use "
            "API Key or other form of API consumer identity to call this API.",
        )


def check_model(model: str) -> None:
    """Reject a model that is not a Gemini model."""
    if not model.startswith("gemini-"):
        raise Refusal(
            404,
            "NOT_FOUND",
            f"models/{model} is not found for API version v1beta, or is not supported for generateContent. "
            "Call ListModels to see the list of available models and their supported methods.",
        )


def check_request(model: str, body: Json) -> int:
    """Reject a generation request that Gemini would reject.

    Returns:
        The number of skip markers in place of signatures.
    """
    contents = body.get("contents") or []
    _check_contents(contents)
    for index, tool in enumerate(body.get("tools") or ()):
        for number, declaration in enumerate(tool.get("functionDeclarations") or ()):
            path = f"tools[{index}].function_declarations[{number}].parameters"
            _check_schema(declaration.get("parameters"), path)
    return _check_signatures(model, contents) if is_gemini_3(model) else 0


def _check_contents(contents: list[Json]) -> None:
    if not contents:
        raise _invalid("* GenerateContentRequest.contents: contents is not specified")
    for index, content in enumerate(contents):
        if not content.get("parts"):
            raise _invalid(
                f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty."
            )
        for number, part in enumerate(content["parts"]):
            if not any(part.get(key) for key in part if key != "thought"):
                raise _invalid(
                    f"* GenerateContentRequest.contents[{index}].parts[{number}].data: required oneof field "
                    "'data' must have one initialized field"
                )
    if contents[-1].get("role") == "model":
        raise _invalid("Please ensure that multiturn requests end with a user turn.")
    _check_pairs(contents)


def _check_pairs(contents: list[Json]) -> None:
    if any(_calls(contents[0])) or any(_responses(contents[0])):
        raise _invalid(
            "Please ensure that function call turn comes immediately after a user turn or after a function "
            "response turn."
        )
    waiting = 0
    for content in contents:
        responses = len(list(_responses(content)))
        if responses != waiting:
            raise _invalid(
                "Please ensure that the number of function response parts is equal to the number of function "
                "call parts of the function call turn."
            )
        waiting = len(list(_calls(content)))


def _check_signatures(model: str, contents: list[Json]) -> int:
    """Check that all signatures are the model's own, and that the calls of the newest turn have one."""
    skipped = 0
    for part in (part for content in contents for part in content["parts"]):
        signature = part.get("thoughtSignature")
        if signature and is_skip_marker(signature):
            skipped += 1
        elif signature and signer(signature, part) != model:
            raise _invalid("Corrupted thought signature.")
    start = _turn_start(contents)
    for position, content in enumerate(contents[start:], start + 1):
        first_call = next(_calls(content), None)
        if first_call and not first_call.get("thoughtSignature"):
            raise _invalid(
                "Function call is missing a thought_signature in functionCall parts. Function call "
                f"`default_api:{first_call['functionCall']['name']}`, position {position}."
            )
    return skipped


def _turn_start(contents: list[Json]) -> int:
    """Return the index of the user's last content that is not a function response."""
    users = (
        index
        for index, content in enumerate(contents)
        if content.get("role") != "model" and not any(_responses(content))
    )
    return max(users, default=0)


def _check_schema(schema: Json | None, path: str) -> None:
    if not schema:
        return
    if unknown := [key for key in schema if _camel(key) not in SCHEMA_KEYS]:
        raise _invalid(
            f"Invalid JSON payload received. Unknown name \"{unknown[0]}\" at '{path}': Cannot find field."
        )
    schema = {_camel(key): value for key, value in schema.items()}
    kind = str(schema.get("type", "")).upper()
    values = schema.get("enum")
    if values is not None and (not values or any(value == "" for value in values)):
        raise _invalid(f"* GenerateContentRequest.{path}.enum: cannot be empty")
    if kind == "OBJECT" and not schema.get("properties"):
        raise _invalid(f"* GenerateContentRequest.{path}.properties: should be non-empty for OBJECT type")
    if kind == "ARRAY" and not schema.get("items"):
        raise _invalid(f"* GenerateContentRequest.{path}.items: missing field.")
    for option in schema.get("anyOf") or ():
        if str(option.get("type", "")).upper() == "OBJECT":
            raise _invalid(f"* GenerateContentRequest.{path}.any_of: objects are not supported here.")
        _check_schema(option, f"{path}.any_of")
    for name, inner in (schema.get("properties") or {}).items():
        _check_schema(inner, f"{path}.properties[{name}]")
    _check_schema(schema.get("items"), f"{path}.items")


def _camel(key: str) -> str:
    """Return the documented name of a field; clients may send its protocol buffer name instead."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)


def _calls(content: Json) -> Iterator[Json]:
    return (part for part in content["parts"] if "functionCall" in part)


def _responses(content: Json) -> Iterator[Json]:
    return (part for part in content["parts"] if "functionResponse" in part)


def _invalid(message: str) -> Refusal:
    return Refusal(400, "INVALID_ARGUMENT", message)

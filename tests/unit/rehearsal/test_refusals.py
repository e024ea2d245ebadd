"""The rehearsal server rejects what Gemini rejects, with Gemini's status codes and error bodies."""

from typing import Any

import httpx
import pytest
from langchain_core.exceptions import ModelError
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall, ToolMessage
from pydantic import BaseModel

from cognition.rehearsal import Call, RehearsalServer, Reply
from tests.conftest import FLASH, LITE, PRO
from tests.unit.rehearsal.conftest import Chat, Post

Json = dict[str, Any]

HELLO: Json = {"role": "user", "parts": [{"text": "Hello"}]}
ANSWER: Json = {"role": "model", "parts": [{"text": "Hi."}]}
OLD = "gemini-2.5-flash"


def called(*names: str, **extra: Any) -> Json:
    return {"role": "model", "parts": [{"functionCall": {"name": n, "args": {}}, **extra} for n in names]}


def returned(*names: str) -> Json:
    parts = [{"functionResponse": {"name": name, "response": {"output": "done"}}} for name in names]
    return {"role": "user", "parts": parts}


def with_schema(**parameters: Any) -> Json:
    declared = {"name": "find", "description": "Find.", "parameters": parameters}
    return {"contents": [HELLO], "tools": [{"functionDeclarations": [declared]}]}


def with_property(**schema: Any) -> Json:
    return with_schema(type="OBJECT", properties={"kind": schema})


def invalid(response: httpx.Response) -> str:
    """Return the message of a 400 response in Gemini's format."""
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    return str(error["message"])


@pytest.fixture(autouse=True)
def _scripted(rehearsal: RehearsalServer) -> None:
    for model in (LITE, FLASH, PRO, OLD):
        rehearsal.script(model, [Reply(text="Served.")])


@pytest.mark.parametrize("body", [{}, {"contents": []}])
def test_p4_no_contents(body: Json, post: Post) -> None:
    assert "contents is not specified" in invalid(post(body))


def test_p4_a_content_without_parts(post: Post) -> None:
    assert "contents[1].parts: contents.parts must not be empty" in invalid(
        post({"contents": [HELLO, {"role": "model", "parts": []}, HELLO]})
    )


@pytest.mark.parametrize("part", [{}, {"text": ""}, {"text": "", "thought": True}])
def test_p4_an_empty_part(part: Json, post: Post) -> None:
    content = {"role": "user", "parts": [{"text": "Hello"}, part]}
    assert "contents[0].parts[1].data" in invalid(post({"contents": [content]}))


def test_p3_a_first_turn_that_is_a_call(post: Post) -> None:
    assert "function call turn comes immediately after" in invalid(
        post({"contents": [called("find"), returned("find")]}, OLD)
    )


def test_p3_a_first_turn_that_is_a_response(post: Post) -> None:
    assert "function call turn comes immediately after" in invalid(post({"contents": [returned("find")]}))


@pytest.mark.parametrize(
    "contents",
    [
        [HELLO, called("find", "find"), returned("find")],
        [HELLO, called("find"), returned("find", "find")],
        [HELLO, called("find"), HELLO],
        [HELLO, ANSWER, returned("find")],
    ],
    ids=["one too few", "one too many", "none", "orphan"],
)
def test_p3_other_counts_of_calls_and_responses(contents: list[Json], post: Post) -> None:
    assert "number of function response parts is equal" in invalid(post({"contents": contents}, OLD))


async def test_p3_a_call_without_its_result_through_the_client(
    chat: Chat, rehearsal: RehearsalServer
) -> None:
    calls = [ToolCall(name="find", args={}, id=call_id) for call_id in ("1", "2")]
    history: list[AnyMessage] = [
        HumanMessage("Hello"),
        AIMessage("", tool_calls=calls),
        ToolMessage("done", tool_call_id="1"),
    ]
    with pytest.raises(ModelError, match="number of function response parts"):
        await chat(OLD).ainvoke(history)
    assert rehearsal.requests == []
    assert [refusal.code for _, refusal in rehearsal.refusals] == [400]


async def test_a_last_turn_of_the_model_through_the_client(chat: Chat) -> None:
    with pytest.raises(ModelError, match="end with a user turn"):
        await chat(FLASH).ainvoke([HumanMessage("Hello"), AIMessage("Hi.")])


def test_p1_an_unsigned_first_call_of_the_current_turn(post: Post) -> None:
    message = invalid(post({"contents": [HELLO, ANSWER, HELLO, called("find"), returned("find")]}))
    assert "missing a thought_signature" in message
    assert "`default_api:find`, position 4" in message


def test_p1_an_unsigned_call_in_a_later_step_of_the_current_turn(post: Post) -> None:
    marked = called("find", thoughtSignature="skip_thought_signature_validator")
    contents = [HELLO, marked, returned("find"), called("find"), returned("find")]
    assert "position 4" in invalid(post({"contents": contents}))


def test_an_unsigned_call_of_a_closed_turn_is_served(post: Post) -> None:
    closed = [HELLO, called("find"), returned("find"), ANSWER]
    assert post({"contents": [*closed, HELLO]}).status_code == 200


def test_models_before_gemini_3_take_unsigned_calls(post: Post) -> None:
    assert post({"contents": [HELLO, called("find"), returned("find")]}, OLD).status_code == 200


@pytest.mark.parametrize("signature", ["Zm9yZ2Vk", "no base64!"])
def test_p1_a_signature_that_was_never_issued(signature: str, post: Post) -> None:
    contents = [HELLO, called("find", thoughtSignature=signature), returned("find")]
    assert "Corrupted thought signature" in invalid(post({"contents": contents}))


def test_p1_a_signature_of_another_call(post: Post, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(calls=[Call("find", {"query": "tea"})])])
    content = post({"contents": [HELLO]}).json()["candidates"][0]["content"]
    assert post({"contents": [HELLO, content, returned("find")]}).status_code == 200
    content["parts"][0]["functionCall"]["args"] = {"query": "coffee"}
    assert "Corrupted thought signature" in invalid(post({"contents": [HELLO, content, returned("find")]}))


@pytest.mark.parametrize("closed", [False, True], ids=["current turn", "closed turn"])
async def test_p1_a_signature_of_another_model_through_the_client(
    closed: bool, chat: Chat, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(PRO, [Reply(calls=[Call("find")])])
    call = await chat(PRO).ainvoke("Hello")
    history: list[AnyMessage] = [
        HumanMessage("Hello"),
        call,
        ToolMessage("done", tool_call_id=str(call.tool_calls[0]["id"])),
    ]
    rest = [AIMessage("Found."), HumanMessage("More")] if closed else []
    with pytest.raises(ModelError, match="Corrupted thought signature"):
        await chat(FLASH).ainvoke([*history, *rest])


@pytest.mark.parametrize("values", [[], ["", "a"]])
def test_p5_an_enum_of_nothing(values: list[str], post: Post) -> None:
    message = invalid(post(with_property(type="STRING", enum=values)))
    assert "tools[0].function_declarations[0].parameters.properties[kind].enum" in message


@pytest.mark.parametrize("parameters", [{"type": "OBJECT"}, {"type": "OBJECT", "properties": {}}])
def test_p5_an_object_without_properties(parameters: Json, post: Post) -> None:
    assert "should be non-empty for OBJECT type" in invalid(post(with_schema(**parameters)))


def test_p5_an_array_without_items(post: Post) -> None:
    assert "items: missing field" in invalid(post(with_property(type="ARRAY")))


async def test_p5_a_free_dict_through_the_client(chat: Chat) -> None:
    def find(filters: dict[str, Any]) -> str:
        """Find."""
        return str(filters)

    with pytest.raises(ModelError, match="non-empty for OBJECT type"):
        await chat().bind_tools([find]).ainvoke("Hello")


@pytest.mark.parametrize("key", ["additionalProperties", "$ref", "$defs", "oneOf", "const"])
def test_p5_a_key_outside_of_the_subset(key: str, post: Post) -> None:
    message = invalid(post(with_property(type="STRING", **{key: "any"})))
    assert f'Unknown name "{key}"' in message
    assert "Cannot find field" in message


def test_p5_a_key_outside_of_the_subset_deep_inside(post: Post) -> None:
    inner = {"type": "OBJECT", "properties": {"x": {"type": "STRING", "const": "a"}}}
    assert "items.properties[x]" in invalid(post(with_property(type="ARRAY", items=inner)))


async def test_p5_any_of_objects_through_the_client(chat: Chat) -> None:
    class Cat(BaseModel):
        lives: int

    class Dog(BaseModel):
        tricks: int

    def adopt(pet: Cat | Dog) -> str:
        """Adopt."""
        return str(pet)

    with pytest.raises(ModelError, match="any_of"):
        await chat().bind_tools([adopt]).ainvoke("Hello")


async def test_what_the_client_makes_of_plain_arguments_is_served(chat: Chat) -> None:
    def find(query: str | None, near: str | int, tags: list[str] | None = None, limit: int = 3) -> str:
        """Find."""
        return str((query, near, tags, limit))

    def now() -> str:
        """Tell the time."""
        return "noon"

    assert (await chat().bind_tools([find, now]).ainvoke("Hello")).text == "Served."


async def test_a_full_json_schema_for_the_answer_is_served(chat: Chat, rehearsal: RehearsalServer) -> None:
    class Node(BaseModel):
        value: int
        child: "Node | None" = None

    rehearsal.script(FLASH, [Reply(text='{"value": 1}')])
    assert await chat().with_structured_output(Node).ainvoke("Hello") == Node(value=1)
    assert "$defs" in rehearsal.requests[-1].body["generationConfig"]["responseJsonSchema"]


async def test_an_unknown_model_through_the_client(chat: Chat) -> None:
    with pytest.raises(ModelError, match=r"models/llama-9 is not found for API version v1beta") as raised:
        await chat("llama-9").ainvoke("Hello")
    assert not raised.value.is_retryable


def test_an_unknown_method(post: Post) -> None:
    assert post({"contents": [HELLO]}, method="bakeCake").status_code == 404


def test_a_missing_key(rehearsal: RehearsalServer) -> None:
    response = httpx.post(
        f"{rehearsal.url}/v1beta/models/{FLASH}:generateContent", json={"contents": [HELLO]}
    )
    assert response.status_code == 403
    assert response.json()["error"]["status"] == "PERMISSION_DENIED"
    assert httpx.get(f"{rehearsal.url}/v1beta/models").status_code == 403


@pytest.mark.parametrize("body", [b"", b"{", b"[]"])
def test_a_body_that_is_no_json_object(body: bytes, rehearsal: RehearsalServer) -> None:
    url = f"{rehearsal.url}/v1beta/models/{FLASH}:generateContent"
    assert "Invalid JSON" in invalid(httpx.post(url, content=body, headers={"x-goog-api-key": "key"}))

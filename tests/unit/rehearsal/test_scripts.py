"""Scripted replies and failures, as the real client receives them."""

import asyncio
import subprocess
import sys
import time
from typing import Any

import httpx
import httpx2
import pytest
from langchain_core.exceptions import ModelError, ModelRateLimitError
from langchain_core.messages import AIMessage

from cognition.models.retry import server_delay
from cognition.rehearsal import Call, RehearsalServer, Reply, Request
from tests.conftest import FLASH, PRO
from tests.unit.rehearsal.conftest import Chat, Post

HELLO = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}


async def streamed(model: Any, texts: list[str] | None = None) -> list[Any]:
    """Return the chunks of an answer; add their texts to `texts` even if the stream breaks."""
    chunks = []
    async for chunk in model.astream("Hello"):
        chunks.append(chunk)
        if texts is not None:
            texts.append(chunk.text)
    return chunks


async def test_replies_come_in_their_order_and_the_last_stays(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="One."), Reply(text="Two.")])
    assert [(await chat().ainvoke("Hello")).text for _ in range(3)] == ["One.", "Two.", "Two."]


async def test_each_model_has_its_script_and_a_new_one_starts_afresh(
    chat: Chat, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(FLASH, [Reply(text="Flash.")])
    rehearsal.script(PRO, [Reply(text="Pro.")])
    assert [(await chat(name).ainvoke("Hello")).text for name in (PRO, FLASH)] == ["Pro.", "Flash."]
    rehearsal.script(PRO, [Reply(text="Again.")])
    assert (await chat(PRO).ainvoke("Hello")).text == "Again."


async def test_a_function_of_the_request_replies(chat: Chat, rehearsal: RehearsalServer) -> None:
    def play(request: Request) -> Reply:
        return Reply(text=f"{request.system}/{request.texts[-1]}/{','.join(request.tools)}")

    def find(query: str) -> str:
        """Find."""
        return query

    rehearsal.script(FLASH, play)
    answer = await chat().bind_tools([find]).ainvoke([("system", "Be brief."), ("human", "Hello")])
    assert answer.text == "Be brief./Hello/find"


async def test_a_model_without_a_script_is_an_error(chat: Chat, rehearsal: RehearsalServer) -> None:
    with pytest.raises(ModelError, match=f"no script for {FLASH}") as raised:
        await chat().ainvoke("Hello")
    assert not raised.value.is_retryable
    assert [request.model for request in rehearsal.requests] == [FLASH]


async def test_a_stream_is_cut_into_its_pieces(chat: Chat, rehearsal: RehearsalServer) -> None:
    reply = Reply(text="abcdefgh", thought="hm", chunks=4, calls=[Call("find", {"query": "tea"})])
    rehearsal.script(FLASH, [reply])
    chunks = await streamed(chat())
    assert [chunk.text for chunk in chunks if chunk.text] == ["ab", "cd", "ef", "gh"]
    assert chunks[0].content[0]["thinking"] == "hm"
    assert [call["args"] for chunk in chunks for call in chunk.tool_calls] == [{"query": "tea"}]


@pytest.mark.parametrize("mode", ["ainvoke", "astream"])
async def test_usage_and_model_are_in_every_answer(mode: str, chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="b" * 40, thought="c" * 8, chunks=5)])
    answer: Any = None
    if mode == "ainvoke":
        answer = await chat().ainvoke("a" * 400)
    else:
        async for chunk in chat().astream("a" * 400):
            answer = chunk if answer is None else answer + chunk
    assert answer.usage_metadata["input_tokens"] == 100
    assert answer.usage_metadata["output_tokens"] == 10 + 2
    assert answer.usage_metadata["total_tokens"] == 112
    assert answer.response_metadata["model_name"] == FLASH


async def test_p9_a_rate_limit_names_its_delay(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(failure="rate_limit", retry_after=7)])
    with pytest.raises(ModelRateLimitError) as raised:
        await chat().ainvoke("Hello")
    assert server_delay(raised.value) == 7.0
    rehearsal.script(FLASH, [Reply(failure="rate_limit")])
    with pytest.raises(ModelRateLimitError) as raised:
        await chat().ainvoke("Hello")
    assert server_delay(raised.value) is None


@pytest.mark.parametrize(("failure", "code"), [("internal", 500), ("unavailable", 503)])
async def test_a_server_that_is_down(
    failure: Any, code: int, chat: Chat, rehearsal: RehearsalServer, post: Post
) -> None:
    rehearsal.script(FLASH, [Reply(failure=failure)])
    with pytest.raises(ModelError) as raised:
        await streamed(chat())
    assert raised.value.is_retryable
    assert post(HELLO).status_code == code


async def test_p11_a_stall_sends_its_text_and_then_nothing(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="abcd", chunks=2, failure="stall")])
    stream = chat().astream("Hello")
    assert [(await anext(stream)).text for _ in range(2)] == ["ab", "cd"]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(anext(stream), 0.2)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(chat().ainvoke("Hello"), 0.2)


def test_a_stall_does_not_outlive_its_server() -> None:
    with RehearsalServer({FLASH: [Reply(failure="stall"), Reply(latency=600)]}) as server:
        with httpx.Client(headers={"x-goog-api-key": "key"}, timeout=0.2) as http:
            for _ in range(2):
                with pytest.raises(httpx.ReadTimeout):
                    http.post(f"{server.url}/v1beta/models/{FLASH}:generateContent", json=HELLO)
        started = time.monotonic()
    assert time.monotonic() - started < 5


async def test_a_stream_drops_in_its_middle(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="abcd", chunks=2, failure="drop")])
    received: list[str] = []
    with pytest.raises(httpx2.RemoteProtocolError):
        await streamed(chat(), received)
    assert received == ["ab", "cd"]
    with pytest.raises(httpx2.RemoteProtocolError):
        await chat().ainvoke("Hello")


@pytest.mark.parametrize("mode", ["ainvoke", "astream"])
@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("blocked", None),
        ("no_candidate", None),
        ("safety", "SAFETY"),
        ("malformed", "MALFORMED_FUNCTION_CALL"),
        ("empty", "STOP"),
    ],
)
async def test_p6_what_is_no_answer_comes_as_an_empty_message(
    failure: Any, reason: str | None, mode: str, chat: Chat, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(FLASH, [Reply(failure=failure)])
    answer: Any = None
    if mode == "ainvoke":
        answer = await chat().ainvoke("Hello")
    else:
        for chunk in await streamed(chat()):
            answer = chunk if answer is None else answer + chunk
    assert (answer.text, answer.tool_calls) == ("", [])
    assert answer.response_metadata.get("finish_reason") == reason
    blocked = (answer.response_metadata.get("prompt_feedback") or {}).get("block_reason")
    assert bool(blocked) == (failure == "blocked")


async def test_p6_max_tokens_keeps_the_text_so_far(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="It begins", failure="max_tokens")])
    answer = await chat().ainvoke("Hello")
    assert isinstance(answer, AIMessage)
    assert (answer.text, answer.response_metadata["finish_reason"]) == ("It begins", "MAX_TOKENS")


async def test_latency_is_waited_side_by_side(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="Late.", latency=0.5)])
    model = chat()
    started = time.monotonic()
    answers = await asyncio.gather(*(model.ainvoke("Hello") for _ in range(8)))
    assert [answer.text for answer in answers] == ["Late."] * 8
    assert 0.5 <= time.monotonic() - started < 3.5


@pytest.mark.parametrize("version", ["v1", "v1beta"])
async def test_both_versions_of_the_api(version: str, chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="Served.")])
    assert (await chat(api_version=version).ainvoke("Hello")).text == "Served."
    headers = {"x-goog-api-key": "key"}
    async with httpx.AsyncClient(base_url=f"{rehearsal.url}/{version}", headers=headers) as http:
        assert (await http.get(f"/models/{PRO}")).json()["name"] == f"models/{PRO}"
        assert (await http.get("/models/llama-9")).status_code == 404
        listed = (await http.get("/models")).json()["models"]
        assert all(model["name"].startswith("models/gemini-") for model in listed)


async def test_tokens_are_counted_and_no_reply_is_used_up(chat: Chat, rehearsal: RehearsalServer) -> None:
    rehearsal.script(FLASH, [Reply(text="One."), Reply(text="Two.")])
    model = chat()
    assert await asyncio.to_thread(model.get_num_tokens, "a" * 400) == 100
    assert (await model.ainvoke("Hello")).text == "One."


def test_the_rehearsal_stands_on_nothing_that_it_rehearses() -> None:
    code = (
        "import sys, cognition.rehearsal; "
        "loaded = {name.partition('.')[0] for name in sys.modules} & "
        "{'langgraph', 'langchain', 'langchain_core', 'google', 'graphs', 'nodes', 'tools'}; "
        "assert not loaded, loaded"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr

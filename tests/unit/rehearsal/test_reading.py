import pytest

from cognition.rehearsal.reading import best_passages, first_sentence
from cognition.rehearsal.responder import MARK, respond
from cognition.rehearsal.script import Call, Request
from cognition.text.blocks import block

HANDBOOK = """# Handbook

## Hours

The fuel dock opens at 7:30 & closes at 17:00.

## Keys

The spare key hangs behind the tide table."""

SEARCH = "search_sessions_context"


def asked(question: str, *files: str, system: str = "", tools: tuple[str, ...] = (SEARCH,)) -> Request:
    """A request with files above a question, as the prompt shows them."""
    parts = [{"text": text} for text in (*files, question)]
    declared = [{"name": name} for name in tools]
    body = {
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": [{"role": "user", "parts": parts}],
        "tools": [{"functionDeclarations": declared}],
    }
    return Request(model="gemini", method="generateContent", body=body)


def file(mode: str, name: str = "handbook.md", body: str = HANDBOOK, source_id: str = "f1") -> str:
    return block("smart_context", body, filename=name, mode=mode, source_id=source_id)


def test_a_file_that_stands_whole_in_the_prompt_answers_itself() -> None:
    reply = respond(asked("when does the fuel dock open in handbook.md?", file("put_in_context")))
    assert reply.text == (
        f"{MARK} handbook.md says:\n\n# Handbook\n## Hours\nThe fuel dock opens at 7:30 & closes at 17:00."
    )
    assert "dit :" in respond(asked("où est la clé « spare » ?", file("put_in_context"))).text


def test_of_several_files_the_one_that_says_most_answers() -> None:
    menu = "# Menu\n\nThe dock has a bar.\n\nIt opens at noon."
    files = [file("put_in_context", "menu.md", menu), file("put_in_context")]
    for given in (files, files[::-1]):
        assert "handbook.md says" in respond(asked("when does the fuel dock open?", *given)).text
        named = respond(asked("when does the fuel dock open, says menu.md?", *given))
        assert "menu.md says" in named.text


def test_a_file_that_is_summed_up_is_searched() -> None:
    question = "when does the fuel dock open?"
    one = respond(asked(question, file("vectorized_sum_up")))
    assert one.calls == [Call(SEARCH, {"query": question, "source_id": "f1"})]
    both = respond(asked(question, file("vectorized_sum_up"), file("vectorized_sum_up", source_id="f2")))
    assert both.calls == [Call(SEARCH, {"query": question})]
    assert not respond(asked(question, file("vectorized_sum_up"), tools=())).calls
    assert not respond(asked("hello", file("vectorized_sum_up"))).calls


def test_what_a_search_found_is_quoted_with_its_place() -> None:
    found = "1 passage, best first.\n" + block("passage", HANDBOOK, headings="Handbook", lines="1-9")
    request = asked("where is the spare key?")
    call = {"functionCall": {"name": SEARCH, "args": {}}}
    response = {"functionResponse": {"name": SEARCH, "response": {"output": found}}}
    request.body["contents"] += [
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [response]},
    ]
    told = respond(request).text
    assert "## Keys\nThe spare key hangs behind the tide table.\n\n(Handbook, lines 1-9)" in told
    assert "fuel" not in told
    response["functionResponse"]["response"] = {"output": "Nothing is found."}  # type: ignore[index]
    assert respond(request).text == f"{MARK} Nothing is found."


def test_a_summary_is_made_of_the_excerpts() -> None:
    excerpts = "# Log\n\nIt began at 8:00. Then it rained.\n\n[…]\n\nIt ended <here>! And so on."
    given = block("excerpts", excerpts, filename="log.txt", seen="2 of 9 passages")
    told = respond(asked(given, system="<distillation>\nSum up.\n</distillation>")).text
    assert told.startswith(f"{MARK} Sentences of log.txt, from 2 of 9 passages:")
    assert "- Log It began at 8:00.\n- It ended <here>!\n" in told
    assert "**Not seen:**" in told
    assert respond(asked("anything", system="<distillation>\n</distillation>")).text == MARK


@pytest.mark.parametrize("text", ["", "   ", "…", "x" * 9_000, "one two. three", "# \n- "])
def test_any_text_has_a_first_sentence_of_a_bounded_length(text: str) -> None:
    assert len(first_sentence(text)) <= 240


@pytest.mark.parametrize("question", ["", "?", "who wrote it?", "42"])
def test_a_question_that_shares_no_word_with_a_text_has_no_passage(question: str) -> None:
    assert best_passages(HANDBOOK, question) == []
    assert best_passages("", "spare key") == []


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("list the files", Call("query_registry", {})),
        ("quels sont mes fichiers ?", Call("query_registry", {})),
        (
            "put aside notes: a long text",
            Call("save_session_context", {"source_id": "notes", "text": "a long text"}),
        ),
        ("search the files for valves", Call(SEARCH, {"query": "valves"})),
        ("cherche dans la conversation : Lyon", Call(SEARCH, {"query": "Lyon"})),
        ("delete the source notes", Call("delete_session_context_source", {"source_id": "notes"})),
    ],
)
def test_each_tool_of_the_session_is_reached_by_a_sentence(text: str, call: Call) -> None:
    tools = ("query_registry", "save_session_context", SEARCH, "delete_session_context_source")
    assert respond(asked(text, tools=tools)).calls == [call]

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
    """Return a request with files above a question, as in the prompt."""
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


def test_a_file_shown_in_full_in_the_prompt_is_quoted() -> None:
    reply = respond(asked("when does the fuel dock open in handbook.md?", file("put_in_context")))
    assert reply.text == (
        f"{MARK} handbook.md says:\n\n# Handbook\n## Hours\nThe fuel dock opens at 7:30 & closes at 17:00."
    )
    assert "D'après handbook.md :" in respond(asked("où est la clé « spare » ?", file("put_in_context"))).text


def test_the_best_of_several_files_is_quoted() -> None:
    menu = "# Menu\n\nThe dock has a bar.\n\nIt opens at noon."
    files = [file("put_in_context", "menu.md", menu), file("put_in_context")]
    for order in (files, files[::-1]):
        assert "handbook.md says" in respond(asked("when does the fuel dock open?", *order)).text
        named = respond(asked("when does the fuel dock open, says menu.md?", *order))
        assert "menu.md says" in named.text


def test_a_summarised_file_is_searched() -> None:
    question = "when does the fuel dock open?"
    one = respond(asked(question, file("vectorized_sum_up")))
    assert one.calls == [Call(SEARCH, {"query": question, "source_id": "f1"})]
    both = respond(asked(question, file("vectorized_sum_up"), file("vectorized_sum_up", source_id="f2")))
    assert both.calls == [Call(SEARCH, {"query": question})]
    assert not respond(asked(question, file("vectorized_sum_up"), tools=())).calls
    assert not respond(asked("hello", file("vectorized_sum_up"))).calls


def test_search_results_are_quoted_with_their_source() -> None:
    results = "1 passage, best first.\n" + block("passage", HANDBOOK, headings="Handbook", lines="1-9")
    request = asked("where is the spare key?")
    call = {"functionCall": {"name": SEARCH, "args": {}}}
    response = {"functionResponse": {"name": SEARCH, "response": {"output": results}}}
    request.body["contents"] += [
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [response]},
    ]
    text = respond(request).text
    assert "## Keys\nThe spare key hangs behind the tide table.\n\n(Handbook, lines 1-9)" in text
    assert "fuel" not in text
    response["functionResponse"]["response"] = {"output": "Nothing is found."}  # type: ignore[index]
    assert respond(request).text == f"{MARK} Nothing is found."


def test_a_summary_quotes_the_excerpts_in_their_language() -> None:
    excerpts = "# Log\n\nIt began at 8:00. Then it rained.\n\n[…]\n\nIt ended <here>! And so on."
    source = block("excerpts", excerpts, filename="log.txt", seen="2 of 9 passages")
    text = respond(asked(source, system="<distillation>\nSum up.\n</distillation>")).text
    assert text.startswith(f"{MARK} Sentences from log.txt (2 of 9 passages):")
    assert "- Log It began at 8:00.\n- It ended <here>!\n" in text
    assert "**Not seen:**" in text
    source = block("excerpts", "Le quai ouvre à 8 h.", filename="log.txt", seen="2 of 9 passages")
    text = respond(asked(source, system="<distillation>\n</distillation>")).text
    assert text.startswith(f"{MARK} Phrases tirées de log.txt (2 passages sur 9) :")
    assert respond(asked("anything", system="<distillation>\n</distillation>")).text == MARK


@pytest.mark.parametrize("text", ["", "   ", "…", "x" * 9_000, "one two. three", "# \n- "])
def test_a_first_sentence_has_a_maximum_length(text: str) -> None:
    assert len(first_sentence(text)) <= 240


@pytest.mark.parametrize("question", ["", "?", "who wrote it?", "42"])
def test_a_question_without_common_words_has_no_passage(question: str) -> None:
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
def test_each_session_tool_is_called_by_a_sentence(text: str, call: Call) -> None:
    tools = ("query_registry", "save_session_context", SEARCH, "delete_session_context_source")
    assert respond(asked(text, tools=tools)).calls == [call]

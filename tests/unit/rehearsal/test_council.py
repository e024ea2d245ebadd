import pytest

from cognition.council.positions import read_position
from cognition.rehearsal import Call, Request
from cognition.rehearsal.responder import respond

SKILL = '<expertise role="Baker">\n1. Weigh the &amp; flour.\n2. Wait.\n</expertise>'


def request(system: str, text: str, *tools: str) -> Request:
    declared = [{"functionDeclarations": [{"name": name} for name in tools]}]
    contents = [{"role": "user", "parts": [{"text": text}]}]
    return Request(
        "gemini-3.1-pro-preview",
        "generateContent",
        {"systemInstruction": {"parts": [{"text": system}]}, "contents": contents, "tools": declared},
    )


def asked(current: int, *stances: str, question: str = "Is it done?") -> str:
    others = [
        f'<contribution participant="Participant {n}" role="R" stance="{stance}">\nSo.\n</contribution>'
        for n, stance in enumerate(stances, 1)
    ]
    return "\n\n".join([f"Round {current} of 3.", *others, f"<question>\n{question}\n</question>"])


@pytest.mark.parametrize(
    ("text", "participants", "question"),
    [
        ("let the council decide whether we split", None, "whether we split"),
        ("Ask the council: shall we hire?", None, "shall we hire?"),
        ("Please consult the council of researcher, coach: which?", "researcher, coach", "which?"),
        ("Consulte le conseil : faut-il partir ?", None, "faut-il partir ?"),
        ("demande au conseil avec coach,teacher de décider où aller", "coach,teacher", "où aller"),
    ],
)
def test_a_sentence_convenes_a_council(text: str, participants: str | None, question: str) -> None:
    (call,) = respond(request("You are Echo.", text, "consult_council")).calls
    assert isinstance(call, Call)
    assert call.args["question"] == question
    assert participants in (None, call.args["participants"])


def test_an_expert_quotes_its_method_step_by_step_and_takes_a_stance() -> None:
    first = respond(request(f"You are Participant 1.\n{SKILL}", asked(1))).text
    second = respond(request(f"You are Participant 1.\n{SKILL}", asked(2, "Not yet"))).text
    assert "Step 1 of my method as Baker: Weigh the & flour." in first
    assert "Step 2 of my method as Baker: Wait." in second
    assert read_position(first)[1].stance == read_position(second)[1].stance == "Yes, step by step"


def test_the_undecided_participant_joins_the_majority() -> None:
    system = f"You are Participant 3.\n{SKILL}"
    assert read_position(respond(request(system, asked(1))).text)[1].stance == "Only with conditions"
    text, position = read_position(respond(request(system, asked(2, "A", "Not yet", "Not yet"))).text)
    assert position.stance == "Not yet"
    assert "Participant 2 has convinced me." in text


def test_the_rapporteur_counts_and_the_brief_quotes_the_newest_message() -> None:
    positions = "Participant 1: Wait – We wait. (60 % sure)\nParticipant 2: Go – We go. (50 % sure)"
    transcript = f"{asked(3)}\n\n<last_positions>\n{positions}\n</last_positions>"
    synthesis = respond(request("You are the neutral rapporteur.", transcript)).text
    assert "## Minority report\n- Participant 2: Go" in synthesis
    conversation = "<conversation>\nuser: hello\nassistant: we are eleven\n</conversation>"
    assert respond(request("<briefing>", conversation)).text.endswith(
        "The last message of the chat: we are eleven"
    )

"""Sub-agents in the keyless rehearsal: who calls them, and what they say of their own."""

import re
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.language import is_french
from cognition.rehearsal.script import Call, Request


class Words(NamedTuple):
    """What a sub-agent says of its own, in one language."""

    begun: str
    done: str
    method: str


ENGLISH: Final = Words(
    begun="I have looked at the task and need one thing to go on.",
    done="Done, as you answered: {answer}. The task was: {task}",
    method="As {role}, I would begin so: {step}",
)
FRENCH: Final = Words(
    begun="J'ai regardé la tâche, et il me manque une chose pour continuer.",
    done="C'est fait, selon votre réponse : {answer}. La tâche était : {task}",
    method="En tant que {role}, je commencerais ainsi : {step}",
)

_ASKED: Final = r"^(?:please |can you |could you |s['’]il te pla[iî]t,? |peux-tu )?"
_SID: Final = r"(?P<sub_sid>dlg_[0-9a-f]{10}|[a-z0-9-]+_[0-9a-f]{8})"

CALLS: Final = (
    (
        "delegate_to_agent",
        _ASKED + r"(?:tell|answer|give|réponds à|dis à|donne à)\s+" + _SID + r"[\s:,]+(?P<task>.+)",
    ),
    (
        "delegate_to_agent",
        _ASKED + r"(?:delegate|délègue[rz]?)\b(?:\s+(?:this|to an? (?:sub-)?agent|ceci|cela|à un agent))*"
        r"[\s:,]+(?P<task>.{3,})",
    ),
    (
        "consult_expert_consultant",
        _ASKED + r"(?:ask|consult|consulte[rz]?|interroge[rz]?)\s+(?:the |l['’]|le |la )?experte?\s+"
        r"(?P<skill_id>[\w-]+)[\s:,]+(?P<question>.{3,})",
    ),
    (
        "list_agent_sessions",
        _ASKED + r"(?:list|show|liste[rz]?|montre[rz]?)\s+(?:me )?(?:the |my |les |mes )?(?:sub-)?agents\b",
    ),
    (
        "close_agent_session",
        _ASKED + r"(?:close|end|ferme[rz]?|termine[rz]?)\s+(?:the |l['’])?(?:agent )?" + _SID,
    ),
)
"""Tools, and the sentences that call them; the groups are the arguments."""

_QUESTION: Final = re.compile(r"\b(?:ask me|demande[rz]?[- ]moi)\s+(?P<what>[^.?!\n]+)", re.IGNORECASE)
_WAITS: Final = re.compile(r"Status: pending_question · sub_sid: (\S+)")


def call_of_agents(request: Request, said: str) -> Call | None:
    """The call that a user's sentence asks for.

    Args:
        request: The chat's.
        said: The user's own words.
    """
    for tool, pattern in CALLS:
        if tool in request.tools and (match := re.search(pattern, said, re.IGNORECASE | re.DOTALL)):
            return Call(tool, {name: text.strip() for name, text in match.groupdict().items()})
    return None


def answer_to_agent(request: Request, said: str) -> Call | None:
    """What follows a sub-agent's question is its answer, unless it asks for something else by a rule.

    Args:
        request: The chat's.
        said: The user's own words.
    """
    before = request.texts[-2] if len(request.texts) > 1 else ""
    if "delegate_to_agent" in request.tools and (waits := _WAITS.search(before)):
        return Call("delegate_to_agent", {"task": said, "sub_sid": waits[1]})
    return None


def is_agent(request: Request) -> bool:
    """Whether a request is a sub-agent's, or one that condenses its thread."""
    return request.system.startswith(("You are a sub-agent", "<condensation>"))


def part_of_agent(request: Request) -> str:
    """What a sub-agent says without a tool; empty when it should use one."""
    if "<condensation>" in request.system:
        return " ".join(re.findall(r"^task: (.*)$", request.texts[-1], re.MULTILINE))[-2_000:]
    if request.responses:
        return ""
    tasks = [
        text
        for text, content in zip(request.texts, request.body["contents"], strict=True)
        if content["role"] == "user" and text.strip()
    ]
    words = FRENCH if is_french("\n".join(tasks[-2:])) else ENGLISH
    if len(tasks) > 1 and _QUESTION.search(tasks[-2]):
        return words.done.format(answer=tasks[-1].strip(" ."), task=tasks[-2])
    if asks := _QUESTION.search(tasks[-1]):
        return f"{words.begun}\n\nQUESTION: {asks['what'].strip()}?"
    if expert := re.search(r'<expertise role="([^"]*)">\n(.*?)</expertise>', request.system, re.DOTALL):
        steps = re.findall(r"^\s*(?:\d+\.|[-*])\s+(.+)$", expert[2], re.MULTILINE) or expert[2].splitlines()
        return words.method.format(role=unescape(expert[1]), step=unescape(steps[0]))
    return ""


def search_of_agent(request: Request, said: str) -> Call | None:
    """The look into memory with which a sub-agent begins a task that no other rule knows."""
    if not is_agent(request) or "search_meta_artifacts" not in request.tools:
        return None
    return Call("search_meta_artifacts", {"query": said[:400]})

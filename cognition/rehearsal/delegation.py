"""Rehearsed sub-agents: the sentences that call them, and their answers."""

import re
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.language import is_french
from cognition.rehearsal.script import Call, Request


class Words(NamedTuple):
    """The texts of a rehearsed sub-agent in one language."""

    begun: str
    question: str
    done: str
    method: str


ENGLISH: Final = Words(
    begun="I have looked at the task and need one more piece of information.",
    question="{question}?",
    done="Done. You answered: {answer}. The task was: {task}",
    method="As {role}, I would start like this: {step}",
)
FRENCH: Final = Words(
    begun="J'ai examiné la tâche, et il me manque une information pour continuer.",
    question="{question} ?",
    done="C'est fait. Vous avez répondu : {answer}. La tâche était : {task}",
    method="En tant que {role}, je commencerais ainsi : {step}",
)

_START: Final = r"^(?:please |can you |could you |s['’]il te pla[iî]t,? |peux-tu )?"
"""The start of a request."""

_SID: Final = r"(?P<sub_sid>dlg_[0-9a-f]{10}|[a-z0-9-]+_[0-9a-f]{8})"

CALLS: Final = (
    (
        "delegate_to_agent",
        _START + r"(?:tell|answer|give|réponds à|dis à|donne à)\s+" + _SID + r"[\s:,]+(?P<task>.+)",
    ),
    (
        "delegate_to_agent",
        _START + r"(?:delegate|délègue[rz]?)\b(?:\s+(?:this|to an? (?:sub-)?agent|ceci|cela|à un agent))*"
        r"[\s:,]+(?P<task>.{3,})",
    ),
    (
        "consult_expert_consultant",
        _START + r"(?:ask|consult|consulte[rz]?|interroge[rz]?)\s+(?:the |l['’]|le |la )?experte?\s+"
        r"(?P<skill_id>[\w-]+)[\s:,]+(?P<question>.{3,})",
    ),
    (
        "list_agent_sessions",
        _START + r"(?:list|show|liste[rz]?|montre[rz]?)\s+(?:me )?(?:the |my |les |mes )?(?:sub-)?agents\b",
    ),
    (
        "close_agent_session",
        _START + r"(?:close|end|ferme[rz]?|termine[rz]?)\s+(?:the |l['’])?(?:agent )?" + _SID,
    ),
)
"""Tools and the sentences that call them; the named groups are the arguments."""

_QUESTION: Final = re.compile(r"\b(?:ask me|demande[rz]?[- ]moi)\s+(?P<what>[^.?!\n]+)", re.IGNORECASE)
_PENDING: Final = re.compile(r"Status: pending_question · sub_sid: (\S+)")


def delegation_call(request: Request, text: str) -> Call | None:
    """Return the call of a sub-agent tool that a sentence asks for.

    Args:
        request: A request of the chat.
        text: The user's own words.
    """
    for tool, pattern in CALLS:
        if tool in request.tools and (match := re.search(pattern, text, re.IGNORECASE | re.DOTALL)):
            return Call(tool, {name: value.strip() for name, value in match.groupdict().items()})
    return None


def answer_call(request: Request, text: str) -> Call | None:
    """Return the call that passes a user's answer to a sub-agent that has just asked a question.

    Args:
        request: A request of the chat.
        text: The user's own words, which match no other rule.
    """
    before = request.texts[-2] if len(request.texts) > 1 else ""
    if "delegate_to_agent" in request.tools and (pending := _PENDING.search(before)):
        return Call("delegate_to_agent", {"task": text, "sub_sid": pending[1]})
    return None


def is_agent_request(request: Request) -> bool:
    """Return True if a request comes from a sub-agent, or condenses the thread of one."""
    return request.system.startswith(("You are a sub-agent", "<condensation>"))


def agent_reply(request: Request) -> str:
    """Return a sub-agent's answer without tools; empty if it should call one."""
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
    if match := _QUESTION.search(tasks[-1]):
        return f"{words.begun}\n\nQUESTION: {words.question.format(question=match['what'].strip())}"
    if expert := re.search(r'<expertise role="([^"]*)">\n(.*?)</expertise>', request.system, re.DOTALL):
        steps = re.findall(r"^\s*(?:\d+\.|[-*])\s+(.+)$", expert[2], re.MULTILINE) or expert[2].splitlines()
        return words.method.format(role=unescape(expert[1]), step=unescape(steps[0]))
    return ""


def memory_search_call(request: Request, text: str) -> Call | None:
    """Return the memory search with which a sub-agent starts a task that matches no other rule."""
    if not is_agent_request(request) or "search_meta_artifacts" not in request.tools:
        return None
    return Call("search_meta_artifacts", {"query": text[:400]})

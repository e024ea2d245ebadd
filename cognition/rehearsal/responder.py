"""The keyless responder: a few rules, in English and French, that reach each tool by plain sentences."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cognition.rehearsal.script import Call, Reply, Request

MARK: Final = "[rehearsal]"

HELP: Final = (
    "I am rehearsed: no model thinks here, a few rules answer. Tell me «remember that …», ask «what do you "
    "know about …?», say «forget ID» or «think harder about …». Set GOOGLE_API_KEY for real answers."
)


@dataclass(frozen=True)
class Rule:
    """A sentence that calls a tool.

    Attributes:
        tool: The tool it needs; without it among the declared ones the rule is passed over.
        pattern: What the user says, matched without regard to case.
        call: The arguments of the call, from the match and the request.
    """

    tool: str
    pattern: str
    call: Callable[[re.Match[str], Request], Call]


def _remember(match: re.Match[str], request: Request) -> Call:
    strong = re.search(r"\b(always|never|important|toujours|jamais)\b", match[0], re.IGNORECASE)
    arguments = {
        "artifact_name": "Profil d'Alignement",
        "fact": match["fact"].strip(),
        "importance": 5 if strong else 3,
    }
    return Call("update_meta_artifact", arguments)


def _search(match: re.Match[str], request: Request) -> Call:
    about = (match["about"] or "").strip(" ?!.")
    return Call("search_meta_artifacts", {} if about.lower() in ("", "me", "moi") else {"query": about})


def _forget(match: re.Match[str], request: Request) -> Call:
    return Call("delete_meta_artifact_item", {"memory_id": match["id"].strip(" .!")})


def _climb(match: re.Match[str], request: Request) -> Call:
    declared = request.tools["new_cognitive_level"]["parameters"]["properties"]
    target = declared["target_model"]["enum"][-1]
    plan = (
        f"## Objective\n{match[0].strip()}\n## What is known\nThe conversation.\n## Strategy\nThink step by "
        "step.\n## Constraints\nNone.\n## What is left\nEverything."
    )
    return Call("new_cognitive_level", {"target_model": target, "transfer_plan": plan})


RULES: Final = (
    Rule(
        "update_meta_artifact",
        r"\b(?:remember|souviens[- ]toi|retiens|n'oublie pas)\b(?: that| que| qu')?[\s:,]*(?P<fact>.{3,})",
        _remember,
    ),
    Rule(
        "search_meta_artifacts",
        r"\b(?:what do you (?:know|remember)|que sais-tu|que te rappelles-tu|qu'est-ce que tu sais)\b"
        r"(?:\s*(?:about|of|de|sur|à propos de)\s+(?P<about>.*))?",
        _search,
    ),
    Rule("delete_meta_artifact_item", r"^\s*(?:forget|oublie)\s+(?P<id>[\w-]+)", _forget),
    Rule(
        "new_cognitive_level", r"\b(?:think harder|think deeper|réfléchis mieux|réfléchis plus)\b.*", _climb
    ),
)


def respond(request: Request) -> Reply:
    """Answer as the rules say, from what the tools really returned; every text carries the mark."""
    if "<distillation>" in request.system:
        return Reply(text=MARK)
    if responses := request.responses:
        return Reply(text=f"{MARK} " + "\n\n".join(text for _, text in responses))
    said = _own_words(request)
    for rule in RULES:
        if rule.tool in request.tools and (match := re.search(rule.pattern, said, re.IGNORECASE | re.DOTALL)):
            return Reply(calls=[rule.call(match, request)])
    return Reply(text=f"{MARK} {_plain_answer(request)}", chunks=4)


def _plain_answer(request: Request) -> str:
    newest = request.texts[-1]
    if plan := re.search(r"<transfer_plan[^>]*>\n(.*?)\n</transfer_plan>", newest, re.DOTALL):
        return f"Thinking on as {request.model}, with this plan:\n\n{plan[1]}"
    if memories := re.search(r"<memories[^>]*>\n(.*?)\n</memories>", newest, re.DOTALL):
        return f"What I remember that may help:\n\n{memories[1]}"
    return HELP


def _own_words(request: Request) -> str:
    """The newest message without the blocks of data that were put under it."""
    return re.sub(r"<(\w+)[^>]*>.*?</\1>", "", request.texts[-1], flags=re.DOTALL).strip()

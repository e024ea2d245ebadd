"""The keyless responder: a few rules, in English and French, that reach each tool by plain sentences."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.council import part_in_council
from cognition.rehearsal.delegation import (
    answer_to_agent,
    call_of_agents,
    is_agent,
    part_of_agent,
    search_of_agent,
)
from cognition.rehearsal.language import is_french
from cognition.rehearsal.reading import answer, own_words, quoted, searchable, summary
from cognition.rehearsal.script import Call, Reply, Request

MARK: Final = "[rehearsal]"
NOTICE: Final = (
    "The models are rehearsed: a few rules answer. Set GOOGLE_API_KEY, in the environment or in .env, "
    "for real answers."
)
"""What a program says at its start when no key is set."""
COUNCIL: Final = "architect, devils-advocate, product-strategist"
"""Who sits in a council when the user names nobody."""


class Words(NamedTuple):
    """What the responder says of its own, in one language."""

    help: str
    plan: str
    memories: str


ENGLISH: Final = Words(
    help="I am rehearsed: no model thinks here, a few rules answer. Tell me «remember that …», ask «what do "
    "you know about …?», give me a file and ask about it, say «forget ID», «think harder about …», «ask the "
    "council: …», "
    "«delegate: …, and ask me …», «list the experts» or «forge an expert ID: …». Set GOOGLE_API_KEY for "
    "real answers.",
    plan="Thinking on as {model}, with this plan:",
    memories="What I remember that may help:",
)
FRENCH: Final = Words(
    help="Je répète : aucun modèle ne pense ici, quelques règles répondent. Dites «souviens-toi que …», "
    "demandez «que sais-tu de … ?», donnez un fichier et interrogez-le, dites «oublie ID», «réfléchis mieux "
    "à …», «consulte le conseil : …», "
    "«délègue : …, et demande-moi …», «liste les experts» ou «forge un expert ID : …». "
    "Pour de vraies réponses, définissez GOOGLE_API_KEY.",
    plan="Je poursuis avec {model} et ce plan :",
    memories="Ce dont je me souviens et qui peut aider :",
)

_QUESTION: Final = re.compile(
    r"\?|\b(?:summari[sz]e|sum up|explain|résume[rz]?|explique[rz]?)\b|"
    r"^\W*(?:what|where|when|who|which|how|why|où|quel(?:le)?s?|quand|qui|que|comment|pourquoi)\b",
    re.IGNORECASE,
)
_ASKED: Final = (
    r"(?:^|[.!?,;:\n]|\b(?:please|always|also|and|et|(?:can|could|will|would) you|you to|"
    r"s['’]il (?:te|vous) pla[iî]t))\s*"
)
"""Where a request may begin: «remember …», and not «I can't remember …»."""


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
    strong = re.search(r"\b(always|never|important|toujours|jamais)\b", match.string, re.IGNORECASE)
    arguments = {
        "artifact_name": "Profil d'Alignement",
        "fact": match["fact"].rstrip(" ?\n"),
        "importance": 5 if strong else 3,
    }
    return Call("update_meta_artifact", arguments)


def _search(match: re.Match[str], request: Request) -> Call:
    about = match["about"].strip(" ?!.,")
    return Call("search_meta_artifacts", {} if about.lower() in ("", "me", "moi") else {"query": about})


def _forget(match: re.Match[str], request: Request) -> Call:
    return Call("delete_meta_artifact_item", {"memory_id": match["id"]})


def _climb(match: re.Match[str], request: Request) -> Call:
    declared = request.tools["new_cognitive_level"]["parameters"]["properties"]
    target = declared["target_model"]["enum"][-1]
    plan = (
        f"## Objective\n{match[0].strip()}\n## What is known\nThe conversation.\n## Strategy\nThink step by "
        "step.\n## Constraints\nNone.\n## What is left\nEverything."
    )
    return Call("new_cognitive_level", {"target_model": target, "transfer_plan": plan})


def _council(match: re.Match[str], request: Request) -> Call:
    arguments = {"question": match["question"].strip(), "participants": match["who"] or COUNCIL}
    return Call("consult_council", arguments)


def _list(match: re.Match[str], request: Request) -> Call:
    return Call("list_skills", {})


def _forge(match: re.Match[str], request: Request) -> Call:
    text = match["text"].strip()
    name = re.sub(r"[\W_]+", " ", match["id"]).strip().capitalize()
    arguments = {
        "skill_id": match["id"],
        "name": name,
        "description": text[:1_000],
        "instructions": f"You are {name}: {text}",
    }
    return Call("forge_skill", arguments)


RULES: Final = (
    Rule(
        "consult_council",
        r"\b(?:(?:ask|let|consult|convene) the council|(?:demande[rz]? au|consulte[rz]? le) conseil)\b"
        r"(?:\s+(?:of|with|avec|de)\s+(?P<who>[\w-]+(?:\s*,\s*[\w-]+)+))?"
        r"(?:\s+(?:decide|to decide|de décider|sur))?[\s:,]*(?P<question>.{3,})",
        _council,
    ),
    Rule(
        "search_meta_artifacts",
        r"\b(?:what (?:do|can) you (?:know|remember)|do you remember|que sa(?:is-tu|vez-vous)|"
        r"qu['’]est-ce que tu sais|te (?:souviens|rappelles)-tu|tu te (?:souviens|rappelles))\b\s*"
        r"(?:(?:about|of|de|du|des|sur|à propos d[eu])\s+|(?:à propos )?d['’])?(?P<about>[^?\n]*)",
        _search,
    ),
    Rule(
        "update_meta_artifact",
        _ASKED + r"(?:remember|don['’]t forget|souviens[- ]toi|rappelle[- ]toi|retiens|n['’]oublie pas)\b"
        r"(?:\s+(?:that|que)\b|\s+qu['’])?[\s:,]*(?P<fact>.{3,})",
        _remember,
    ),
    Rule("delete_meta_artifact_item", _ASKED + r"(?:forget|oublie)\s+[«\"'`\s]*(?P<id>[\w-]+)", _forget),
    Rule(
        "list_skills",
        r"\b(?:(?:list|show)(?: me)?|liste[rz]?|montre[rz]?(?:-moi)?|quel(?:le)?s sont|what are|who are)\s+"
        r"(?:(?:the|your|my|all|les|tes|vos|mes|tous)\s+)*(?:skills|experts|compétences)\b",
        _list,
    ),
    Rule(
        "forge_skill",
        _ASKED + r"forge[rz]?\s+(?:(?:an?|une?)\s+)?(?:(?:experte?|skill|compétence)\s+)?"
        r"(?P<id>[\w-]+)[\s:,]+(?P<text>.{3,})",
        _forge,
    ),
    Rule(
        "query_registry",
        r"\b(?:(?:list|show)(?: me)?|liste[rz]?|montre[rz]?(?:-moi)?|quels sont|what are|which)\s+"
        r"(?:(?:the|your|my|all|les|tes|vos|mes|tous)\s+)*(?:files|fichiers)\b",
        lambda match, request: Call("query_registry", {}),
    ),
    Rule(
        "save_session_context",
        _ASKED
        + r"(?:put aside|set aside|mets de côté|mettez de côté)\s+(?P<id>[\w-]+)\s*:\s*(?P<text>.{3,})",
        lambda match, request: Call(
            "save_session_context", {"source_id": match["id"], "text": match["text"]}
        ),
    ),
    Rule(
        "search_sessions_context",
        _ASKED
        + r"(?:search|look through|cherche[rz]?(?: dans)?|fouille[rz]?)\s+(?:(?:the|my|this|all|le|la|les|"
        r"mes|cette)\s+)*(?:files?|session|conversation|chat|fichiers?)\b(?:\s+(?:for|about|pour|sur))?[\s:,]*"
        r"(?P<query>.*)",
        lambda match, request: Call("search_sessions_context", {"query": match["query"].strip()}),
    ),
    Rule(
        "delete_session_context_source",
        _ASKED + r"(?:delete|supprime[rz]?)\s+(?:(?:the|la)\s+)?source\s+[«\"'`\s]*(?P<id>[\w-]+)",
        lambda match, request: Call("delete_session_context_source", {"source_id": match["id"]}),
    ),
    Rule(
        "new_cognitive_level",
        r"\b(?:think (?:harder|deeper)|réfléchis (?:mieux|plus|davantage))\b.*",
        _climb,
    ),
)
"""Tried in their order. A line here reaches a capability; its function makes the arguments of the call."""


def respond(request: Request) -> Reply:
    """Answer as the rules say, from what the tools really returned; every text carries the mark."""
    if "<distillation>" in request.system:
        return Reply(text=f"{MARK} {summary(request)}".strip())
    if part := part_of_agent(request) if is_agent(request) else part_in_council(request):
        return Reply(text=f"{MARK}\n\n{part}", chunks=4)
    if responses := request.responses:
        return Reply(text=f"{MARK} " + "\n\n".join(_reported(request, *told) for told in responses), chunks=4)
    said = own_words(request.texts[-1])
    if call := _call(request, said):
        return Reply(calls=[call])
    return Reply(text=f"{MARK} {_plain_answer(request, said)}", chunks=4)


def _call(request: Request, said: str) -> Call | None:
    """The call that the user's words, or a sub-agent's task, ask for."""
    if call := call_of_agents(request, said):
        return call
    for rule in RULES:
        if rule.tool in request.tools and (match := re.search(rule.pattern, said, re.IGNORECASE | re.DOTALL)):
            return rule.call(match, request)
    if call := answer_to_agent(request, said):
        return call
    if _QUESTION.search(said) and (call := _about_files(request, said)):
        return call
    return search_of_agent(request, said)


def _plain_answer(request: Request, said: str) -> str:
    words = FRENCH if is_french(said) else ENGLISH
    if plan := _block(request, "transfer_plan"):
        return f"{words.plan.format(model=request.model)}\n\n{plan}"
    if told := answer(request, said):
        return told
    if _QUESTION.search(said) and (memories := _block(request, "memories")):
        return f"{words.memories}\n\n{memories}"
    return words.help


def _about_files(request: Request, said: str) -> Call | None:
    """The search of a file that the prompt sums up, when no file that stands there whole has the answer."""
    ids = searchable(request)
    if not ids or "search_sessions_context" not in request.tools or answer(request, said):
        return None
    return Call(
        "search_sessions_context", {"query": said, **({"source_id": ids[0]} if len(ids) == 1 else {})}
    )


def _reported(request: Request, tool: str, text: str) -> str:
    """What a tool returned, as it is told."""
    return (quoted(request, text) if tool == "search_sessions_context" else "") or _shown(text)


def _block(request: Request, tag: str) -> str:
    """The text of a block of data under the newest message, or nothing."""
    found = re.search(rf"<{tag}\b[^>]*>.*?</{tag}>", request.texts[-1], re.DOTALL)
    return _shown(found[0]) if found else ""


def _shown(text: str) -> str:
    """A tool's or a block's text as a person reads it: without the tags, and not escaped."""
    return unescape(re.sub(r"</?[a-z_]+(?: [^<>]*)?>\n?", "", text)).strip()

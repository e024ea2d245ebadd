"""The keyless responder: rules that call each tool for plain sentences in English and French."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.council import council_reply
from cognition.rehearsal.delegation import (
    agent_reply,
    answer_call,
    delegation_call,
    is_agent_request,
    memory_search_call,
)
from cognition.rehearsal.language import is_french
from cognition.rehearsal.reading import answer_from_files, own_words, quote_results, searchable_ids, summarize
from cognition.rehearsal.script import Call, Reply, Request

MARK: Final = "[rehearsal]"
"""The mark at the start of every rehearsed answer."""

NOTICE: Final = (
    "The models are rehearsed: scripted rules answer. For real answers, set GEMINI_API_KEY or GOOGLE_API_KEY "
    "in the environment or in .env."
)
"""The message that programs print at startup if no key is set."""

COUNCIL: Final = "architect, devils-advocate, product-strategist"
"""The participants of a council for which the user names none."""


class Words(NamedTuple):
    """The texts of the responder in one language."""

    help: str
    plan: str
    memories: str


ENGLISH: Final = Words(
    help="This is a rehearsal: scripted rules answer in place of a model. Say “remember that …”, “what do "
    "you know about …?”, “forget ID”, “think harder about …”, “ask the council: …”, “delegate: …, and ask "
    "me …”, “list the experts” or “forge an expert ID: …”, or attach a file and ask about it. For real "
    "answers, set GEMINI_API_KEY or GOOGLE_API_KEY.",
    plan="Continuing as {model}, with this plan:",
    memories="Here is what I remember that may help:",
)
FRENCH: Final = Words(
    help="Ceci est une simulation : des règles répondent à la place d'un modèle. Dites « souviens-toi "
    "que … », « que sais-tu de … ? », « oublie ID », « réfléchis mieux à … », « consulte le conseil : … », "
    "« délègue : …, et demande-moi … », « liste les experts » ou « forge un expert ID : … », ou joignez un "
    "fichier et posez une question à son sujet. Pour obtenir de vraies réponses, définissez GEMINI_API_KEY "
    "ou GOOGLE_API_KEY.",
    plan="Je continue avec {model}, selon ce plan :",
    memories="Voici ce dont je me souviens et qui peut vous aider :",
)

_QUESTION: Final = re.compile(
    r"\?|\b(?:summari[sz]e|sum up|explain|résume[rz]?|explique[rz]?)\b|"
    r"^\W*(?:what|where|when|who|which|how|why|où|quel(?:le)?s?|quand|qui|que|comment|pourquoi)\b",
    re.IGNORECASE,
)
_START: Final = (
    r"(?:^|[.!?,;:\n]|\b(?:please|always|also|and|et|(?:can|could|will|would) you|you to|"
    r"s['’]il (?:te|vous) pla[iî]t))\s*"
)
"""The start of a request: matches “remember …”, but not “I can't remember …”."""


@dataclass(frozen=True)
class Rule:
    """A rule that calls a tool for a sentence.

    Attributes:
        tool: The tool; the rule applies only if the request declares it.
        pattern: The pattern of the sentence; case is ignored.
        call: Returns the call for a match and a request.
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
        _START + r"(?:remember|don['’]t forget|souviens[- ]toi|rappelle[- ]toi|retiens|n['’]oublie pas)\b"
        r"(?:\s+(?:that|que)\b|\s+qu['’])?[\s:,]*(?P<fact>.{3,})",
        _remember,
    ),
    Rule("delete_meta_artifact_item", _START + r"(?:forget|oublie)\s+[«\"'`\s]*(?P<id>[\w-]+)", _forget),
    Rule(
        "list_skills",
        r"\b(?:(?:list|show)(?: me)?|liste[rz]?|montre[rz]?(?:-moi)?|quel(?:le)?s sont|what are|who are)\s+"
        r"(?:(?:the|your|my|all|les|tes|vos|mes|tous)\s+)*(?:skills|experts|compétences)\b",
        _list,
    ),
    Rule(
        "forge_skill",
        _START + r"forge[rz]?\s+(?:(?:an?|une?)\s+)?(?:(?:experte?|skill|compétence)\s+)?"
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
        _START
        + r"(?:put aside|set aside|mets de côté|mettez de côté)\s+(?P<id>[\w-]+)\s*:\s*(?P<text>.{3,})",
        lambda match, request: Call(
            "save_session_context", {"source_id": match["id"], "text": match["text"]}
        ),
    ),
    Rule(
        "search_sessions_context",
        _START
        + r"(?:search|look through|cherche[rz]?(?: dans)?|fouille[rz]?)\s+(?:(?:the|my|this|all|le|la|les|"
        r"mes|cette)\s+)*(?:files?|session|conversation|chat|fichiers?)\b(?:\s+(?:for|about|pour|sur))?[\s:,]*"
        r"(?P<query>.*)",
        lambda match, request: Call("search_sessions_context", {"query": match["query"].strip()}),
    ),
    Rule(
        "delete_session_context_source",
        _START + r"(?:delete|supprime[rz]?)\s+(?:(?:the|la)\s+)?source\s+[«\"'`\s]*(?P<id>[\w-]+)",
        lambda match, request: Call("delete_session_context_source", {"source_id": match["id"]}),
    ),
    Rule(
        "new_cognitive_level",
        r"\b(?:think (?:harder|deeper)|réfléchis (?:mieux|plus|davantage))\b.*",
        _climb,
    ),
)
"""The rules, in the order in which they are tried."""


def respond(request: Request) -> Reply:
    """Answer a request by the rules, from the real results of tools. Every text starts with the mark."""
    if "<distillation>" in request.system:
        return Reply(text=f"{MARK} {summarize(request)}".strip())
    if text := agent_reply(request) if is_agent_request(request) else council_reply(request):
        return Reply(text=f"{MARK}\n\n{text}", chunks=4)
    if responses := request.responses:
        results = [_tool_result(request, tool, text) for tool, text in responses]
        return Reply(text=f"{MARK} " + "\n\n".join(results), chunks=4)
    text = own_words(request.texts[-1])
    if call := _call(request, text):
        return Reply(calls=[call])
    return Reply(text=f"{MARK} {_plain_answer(request, text)}", chunks=4)


def _call(request: Request, text: str) -> Call | None:
    """Return the call that the user's words or a sub-agent's task ask for."""
    if call := delegation_call(request, text):
        return call
    for rule in RULES:
        if rule.tool in request.tools and (match := re.search(rule.pattern, text, re.IGNORECASE | re.DOTALL)):
            return rule.call(match, request)
    if call := answer_call(request, text):
        return call
    if _QUESTION.search(text) and (call := _file_search(request, text)):
        return call
    return memory_search_call(request, text)


def _plain_answer(request: Request, text: str) -> str:
    words = FRENCH if is_french(text) else ENGLISH
    if plan := _block(request, "transfer_plan"):
        return f"{words.plan.format(model=request.model)}\n\n{plan}"
    if answer := answer_from_files(request, text):
        return answer
    if _QUESTION.search(text) and (memories := _block(request, "memories")):
        return f"{words.memories}\n\n{memories}"
    return words.help


def _file_search(request: Request, text: str) -> Call | None:
    """Return a search of the files that the prompt only summarises, unless a file shown in full answers."""
    ids = searchable_ids(request)
    if not ids or "search_sessions_context" not in request.tools or answer_from_files(request, text):
        return None
    return Call(
        "search_sessions_context", {"query": text, **({"source_id": ids[0]} if len(ids) == 1 else {})}
    )


def _tool_result(request: Request, tool: str, text: str) -> str:
    """Return the result of a tool in a form for people."""
    return (quote_results(request, text) if tool == "search_sessions_context" else "") or _readable(text)


def _block(request: Request, tag: str) -> str:
    """Return the text of a block of data below the newest message; empty if there is none."""
    match = re.search(rf"<{tag}\b[^>]*>.*?</{tag}>", request.texts[-1], re.DOTALL)
    return _readable(match[0]) if match else ""


def _readable(text: str) -> str:
    """Return a text without tags and escapes."""
    return unescape(re.sub(r"</?[a-z_]+(?: [^<>]*)?>\n?", "", text)).strip()

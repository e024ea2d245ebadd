"""Rehearsed councils: experts quote steps of their method, and the rapporteur counts their stances."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.language import is_french
from cognition.rehearsal.script import Request


class Lines(NamedTuple):
    """The texts of a rehearsed council in one language."""

    method: str
    convinced: str
    unconvinced: str
    answers: Sequence[tuple[str, str]]
    """Stances, each with a sentence: in favour, against, and conditional. Only the last may change."""
    headings: Sequence[str]
    unknown: str
    brief: str


ENGLISH: Final = Lines(
    method="Step {number} of my method as {role}: {step}",
    convinced="{who} has convinced me.",
    unconvinced="I have read the other contributions and stand by my answer.",
    answers=(
        ("Yes, step by step", "Yes, in small steps that can each be undone."),
        ("Not yet", "Not before we know the cost of doing nothing."),
        ("Only with conditions", "Only if clear conditions are agreed and met."),
    ),
    headings=("Consensus", "Divergences", "Minority report", "What remains unknown"),
    unknown="Everything: this is a rehearsal, and no model has thought about the question.",
    brief="The last message of the chat: {last}",
)
FRENCH: Final = Lines(
    method="Étape {number} de ma méthode en tant que {role} : {step}",
    convinced="{who} m'a convaincu.",
    unconvinced="J'ai lu les autres contributions et je maintiens ma réponse.",
    answers=(
        ("Oui, par étapes", "Oui, par petites étapes, toutes réversibles."),
        ("Pas encore", "Pas avant de savoir ce que coûterait l'inaction."),
        ("Sous conditions", "Seulement si des conditions claires sont fixées et remplies."),
    ),
    headings=("Consensus", "Divergences", "Rapport minoritaire", "Ce qui reste inconnu"),
    unknown="Tout : ceci est une simulation, et aucun modèle n'a réfléchi à la question.",
    brief="Le dernier message de la conversation : {last}",
)


def council_reply(request: Request) -> str:
    """Return the text of a participant, the rapporteur or the briefing; empty for any other request."""
    if "<briefing>" in request.system:
        return _brief(request)
    if "<expertise " in request.system:
        return _contribution(request)
    if "<last_positions>" in request.texts[-1]:
        return _synthesis(request)
    return ""


def _brief(request: Request) -> str:
    last = _body("conversation", request.texts[-1]).splitlines()[-1]
    return _lines(request).brief.format(last=last.partition(": ")[2][:300])


def _contribution(request: Request) -> str:
    """Return the next step of the expert's method and its answer; participants 3 and 5 may be convinced."""
    lines, prompt = _lines(request), request.texts[-1]
    participant = _number(r"You are Participant (\d+)", request.system)
    current = _number(r"Round (\d+) of", prompt)
    stance, position = lines.answers[(0, 1, 2)[(participant - 1) % 3] if participant < 5 else 2]
    paragraphs = [lines.method.format(role=_role(request), number=current, step=_step(request, current))]
    others = re.findall(r'<contribution participant="([^"]+)"[^>]*? stance="([^"]+)"', prompt)
    if others and stance == lines.answers[2][0]:
        stance = unescape(Counter(name for _, name in others).most_common(1)[0][0])
        who = next(alias for alias, name in others if unescape(name) == stance)
        position = dict(lines.answers).get(stance, stance)
        paragraphs.append(lines.convinced.format(who=who))
    elif others:
        paragraphs.append(lines.unconvinced)
    answer = {"stance": stance, "position": position, "confidence": min(55 + 10 * current, 90)}
    return "\n\n".join([*paragraphs, position, json.dumps(answer, ensure_ascii=False)])


def _synthesis(request: Request) -> str:
    """Return a synthesis that groups the participants by their last stance."""
    lines = _lines(request)
    camps: dict[str, list[str]] = {}
    for line in _body("last_positions", request.texts[-1]).splitlines():
        who, _, stance = line.partition(" – ")[0].partition(": ")
        camps.setdefault(stance, []).append(who)
    groups = [
        f"- {', '.join(who)}: {stance}"
        for stance, who in sorted(camps.items(), key=lambda camp: -len(camp[1]))
    ]
    bodies = [groups, [], []] if len(groups) == 1 else [[], groups, groups[1:]]
    sections = zip(lines.headings, [*bodies, [lines.unknown]], strict=True)
    return "\n\n".join(f"## {heading}\n{chr(10).join(body)}" for heading, body in sections if body)


def _lines(request: Request) -> Lines:
    return FRENCH if is_french(_body("question", request.texts[-1])) else ENGLISH


def _role(request: Request) -> str:
    match = re.search(r'<expertise role="([^"]*)"', request.system)
    return unescape(match[1]) if match else "expert"


def _step(request: Request, number: int) -> str:
    """Return the step with this number from the expert's instructions, wrapping around after the last."""
    steps = re.findall(r"^\d+\. (.+)$", _body("expertise", request.system), re.MULTILINE)
    return steps[(number - 1) % len(steps)] if steps else "–"


def _body(tag: str, text: str) -> str:
    match = re.search(rf"<{tag}\b[^>]*>\n(.*?)\n?</{tag}>", text, re.DOTALL)
    return unescape(match[1]).strip() if match else ""


def _number(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 1

"""A council in the keyless rehearsal: experts who quote their method, and a rapporteur who counts."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from html import unescape
from typing import Final, NamedTuple

from cognition.rehearsal.language import is_french
from cognition.rehearsal.script import Request


class Lines(NamedTuple):
    """What the players say, in one language."""

    method: str
    moved: str
    held: str
    answers: Sequence[tuple[str, str]]
    """A stance and a sentence for it: one that is for it, one against, one that can be won over."""
    headings: Sequence[str]
    unknown: str
    brief: str


ENGLISH: Final = Lines(
    method="As {role}, step {number} of my method: {step}",
    moved="{who} has won me over.",
    held="I have read the others and hold to my answer.",
    answers=(
        ("Yes, step by step", "Yes, in small steps that can each be taken back."),
        ("Not yet", "Not before it is known what doing nothing costs."),
        ("Only on conditions", "Only once the conditions that I named are met."),
    ),
    headings=("Consensus", "Divergences", "Minority report", "What stays unknown"),
    unknown="Everything: this is a rehearsal, and no model has thought about the question.",
    brief="The newest that was said: {last}",
)
FRENCH: Final = Lines(
    method="En tant que {role}, étape {number} de ma méthode : {step}",
    moved="{who} m'a convaincu.",
    held="J'ai lu les autres et je maintiens ma réponse.",
    answers=(
        ("Oui, par étapes", "Oui, par petites étapes dont chacune est réversible."),
        ("Pas encore", "Pas avant de savoir ce que coûte de ne rien faire."),
        ("Sous conditions", "Seulement quand les conditions que j'ai nommées sont réunies."),
    ),
    headings=("Consensus", "Divergences", "Rapport minoritaire", "Ce qui reste inconnu"),
    unknown="Tout : c'est une simulation, et aucun modèle n'a réfléchi à la question.",
    brief="Ce qui a été dit en dernier : {last}",
)


def part_in_council(request: Request) -> str:
    """What a participant, the rapporteur or who briefs them says; empty for a request of another kind."""
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
    """The next step of the expert's own method, and an answer; the third and fifth may be won over."""
    lines, asked = _lines(request), request.texts[-1]
    place = _number(r"You are Participant (\d+)", request.system)
    current = _number(r"Round (\d+) of", asked)
    stance, position = lines.answers[(0, 1, 2)[(place - 1) % 3] if place < 5 else 2]
    said = [lines.method.format(role=_role(request), number=current, step=_step(request, current))]
    others = re.findall(r'<contribution participant="([^"]+)"[^>]*? stance="([^"]+)"', asked)
    if others and stance == lines.answers[2][0]:
        stance = unescape(Counter(name for _, name in others).most_common(1)[0][0])
        who = next(alias for alias, name in others if unescape(name) == stance)
        position = dict(lines.answers).get(stance, stance)
        said.append(lines.moved.format(who=who))
    elif others:
        said.append(lines.held)
    held = {"stance": stance, "position": position, "confidence": min(55 + 10 * current, 90)}
    return "\n\n".join([*said, position, json.dumps(held, ensure_ascii=False)])


def _synthesis(request: Request) -> str:
    """Who holds what, by the last positions."""
    lines = _lines(request)
    camps: dict[str, list[str]] = {}
    for line in _body("last_positions", request.texts[-1]).splitlines():
        who, _, stance = line.partition(" – ")[0].partition(": ")
        camps.setdefault(stance, []).append(who)
    told = [
        f"- {', '.join(who)}: {stance}"
        for stance, who in sorted(camps.items(), key=lambda camp: -len(camp[1]))
    ]
    bodies = [told, [], []] if len(told) == 1 else [[], told, told[1:]]
    named = zip(lines.headings, [*bodies, [lines.unknown]], strict=True)
    sections = [f"## {heading}\n{chr(10).join(body)}" for heading, body in named if body]
    return "\n\n".join(sections)


def _lines(request: Request) -> Lines:
    return FRENCH if is_french(_body("question", request.texts[-1])) else ENGLISH


def _role(request: Request) -> str:
    found = re.search(r'<expertise role="([^"]*)"', request.system)
    return unescape(found[1]) if found else "expert"


def _step(request: Request, number: int) -> str:
    """A numbered step of the expert's instructions, the first again after the last."""
    steps = re.findall(r"^\d+\. (.+)$", _body("expertise", request.system), re.MULTILINE)
    return steps[(number - 1) % len(steps)] if steps else "–"


def _body(tag: str, text: str) -> str:
    found = re.search(rf"<{tag}\b[^>]*>\n(.*?)\n?</{tag}>", text, re.DOTALL)
    return unescape(found[1]).strip() if found else ""


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 1

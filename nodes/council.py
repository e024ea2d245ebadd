"""Nodes of the `council` graph: seat participants, brief them, hold rounds and write the synthesis."""

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Any, Final, Literal, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.pregel._read import ChannelRead  # there is no public API for a sent branch to read the state
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send
from typing_extensions import TypedDict

from cognition.context import Context, context_of, identity_of
from cognition.council.briefing import context_block, distill_context
from cognition.council.positions import contribution_text
from cognition.council.report import report
from cognition.council.request import (
    FEWEST,
    depth_of,
    focus_of,
    named_participants,
    question_of,
    rounds_of,
    seated_skills,
    seats_of,
    within_ceiling,
)
from cognition.council.result import deliberation, present, round_seconds, seconds_spent, speakers
from cognition.council.statements import statement_of
from cognition.levels import LEVELS, Level, ceiling, lower_levels
from cognition.messages.history import split_turns, trim_turns
from cognition.models.outcome import Answer, Failure, is_truncated
from cognition.models.retry import Notify
from cognition.prompts.council import RAPPORTEUR, expert_prompt, round_request, transcript
from cognition.settings import Settings
from cognition.skills.skill import InvalidSkill
from cognition.skills.vault import Vault
from cognition.state.council import CouncilState, Seat, Statement, Synthesis
from cognition.state.turn import Tokens, tokens_of

CUT: Final = " […]\n\n*The synthesis is cut off: its model reached its output limit.*"


class Speaker(TypedDict):
    """The input of one branch: the participant who speaks. It reads everything else from the state."""

    alias: str


async def convene(state: CouncilState, runtime: Runtime[Context]) -> CouncilState:
    """Seat the participants and set levels, rounds and time limit.

    Raises:
        InvalidCouncil: If the request is invalid.
    """
    context, settings = context_of(runtime), context_of(runtime).services().settings
    question = question_of(state)
    ids = named_participants(state.get("participants", ""))
    vault = Vault(settings.home, identity_of(runtime).user_id)
    skills = await asyncio.to_thread(seated_skills, vault, ids, settings)
    target, target_note = within_ceiling(state, "target_model", "MODEL_PRO", context.policy)
    synthesis, synthesis_note = within_ceiling(state, "synthesis_model", "MODEL_FLASH", context.policy)
    rounds, rounds_note = rounds_of(state, settings)
    seats = seats_of(skills)
    _emit(runtime, "convened", roster=[_public(seat) for seat in seats], rounds=rounds)
    return {
        "question": question,
        "expert_level": target,
        "rapporteur_level": synthesis,
        "rounds_planned": rounds,
        "depth": depth_of(state),
        "focus": focus_of(state),
        "seats": seats,
        "notes": [note for note in (rounds_note, target_note, synthesis_note) if note],
        "round": 1,
        "closed": False,
        "statements": cast("list[Statement]", Overwrite([])),  # drop those of the thread's last council
        "histories": {
            seat["alias"]: [SystemMessage(expert_prompt(seat, seats, skill.instructions))]
            for seat, skill in zip(seats, skills, strict=True)
        },
    }


async def distill(state: CouncilState, runtime: Runtime[Context]) -> CouncilState:
    """Summarise the chat for the participants and drop the chat's messages from the state."""
    services = context_of(runtime).services()
    brief = await distill_context(
        services.models,
        state.get("messages") or [],
        state["question"],
        depth=state["depth"],
        focus=state["focus"],
        seconds=min(_seconds_to_speak(state, services.settings), services.settings.council_seconds / 4),
        notify=_notify(runtime, "distillation"),
    )
    if brief["status"] != "none":
        _emit(runtime, brief["status"], tokens=brief["tokens"])
    _emit(runtime, "round", round=1, rounds=state["rounds_planned"])
    return {"brief": brief, "messages": []}


async def speak(speaker: Speaker, config: RunnableConfig, runtime: Runtime[Context]) -> CouncilState:
    """Ask one participant for this round's contribution. If it fails, its history stays unchanged."""
    state: CouncilState = ChannelRead.do_read(config, select=list(CouncilState.__annotations__))
    alias, current = speaker["alias"], state["round"]
    seat = next(seat for seat in state["seats"] if seat["alias"] == alias)
    _emit(runtime, "speaks", round=current, **_public(seat))
    sent, outcome = await _ask_participant(seat, state, runtime)
    statement = statement_of(outcome, alias, current)
    if isinstance(outcome, Failure) or statement["absence"]:
        _emit(runtime, "absent", round=current, **_public(seat), reason=statement["absence"])
        return {"statements": [statement]}
    _emit(runtime, "spoke", round=current, **_public(seat), **_summary(statement))
    return {"statements": [statement], "histories": {alias: [*sent, outcome.message]}}


async def gather(state: CouncilState, runtime: Runtime[Context]) -> CouncilState:
    """Close the round, and end the council if no further round can follow."""
    settings = context_of(runtime).services().settings
    number, rounds, present_count = (
        state["round"],
        state["rounds_planned"],
        present(state["statements"], state["round"]),
    )
    note = ""
    if number < rounds and _seconds_to_speak(state, settings) <= round_seconds(state, number):
        note = f"The council ran out of time after round {number}."
    elif present_count < FEWEST:
        note = f"In round {number} fewer than {FEWEST} participants answered, so it was the last one."
    if note or number == rounds:
        return {"closed": True, "notes": [*state["notes"], *filter(None, [note])]}
    _emit(runtime, "round", round=number + 1, rounds=rounds)
    return {"round": number + 1}


async def synthesize(state: CouncilState, runtime: Runtime[Context]) -> CouncilState:
    """Ask a neutral rapporteur for the synthesis. If none answers, the report is the transcript."""
    synthesis = await _synthesis(state, runtime)
    state = {**state, "synthesis": synthesis}
    result = deliberation(state)
    _emit(runtime, "ended", outcome=result["outcome"], usage=result["usage"])
    return {"synthesis": synthesis, "report": report(result), "deliberation": result}


def send_participants(state: CouncilState) -> list[Send]:
    """Return one branch per participant."""
    return [Send("speak", Speaker(alias=seat["alias"])) for seat in state["seats"]]


def route_after_gather(state: CouncilState) -> Literal["synthesize"] | list[Send]:
    """Return the next round, or the synthesis after the last one."""
    return "synthesize" if state["closed"] else send_participants(state)


async def _synthesis(state: CouncilState, runtime: Runtime[Context]) -> Synthesis:
    """Return the first synthesis; try the requested level, then lower levels, then higher ones."""
    started = monotonic()
    services, policy = context_of(runtime).services(), context_of(runtime).policy
    left = services.settings.council_seconds - seconds_spent(state)
    synthesis = Synthesis(
        text="", level="", model="", calls=0, tokens=Tokens(input=0, output=0), seconds=0.0, failures=[]
    )
    if len(speakers(state["statements"])) < FEWEST:
        return synthesis
    budget = services.models.budget
    material = transcript(state["question"], state["brief"], state["seats"], state["statements"], budget)
    request: list[AnyMessage] = [SystemMessage(RAPPORTEUR), HumanMessage(material)]
    levels = _rapporteurs(state["rapporteur_level"], ceiling(policy))
    for place, level in enumerate(levels):
        _emit(runtime, "synthesis", level=level)
        outcome = await services.models.call(
            level,
            request,
            seconds=(left - (monotonic() - started))
            / (len(levels) - place),  # leave time for the other levels
            notify=_notify(runtime, "rapporteur"),
        )
        synthesis["calls"] += outcome.calls
        synthesis["seconds"] += outcome.seconds
        if isinstance(outcome, Answer) and (text := outcome.text.strip()):
            text += CUT if is_truncated(outcome.message) else ""
            answer = {"text": text, "level": level, "model": outcome.model, "tokens": tokens_of(outcome)}
            return cast("Synthesis", {**synthesis, **answer})
        synthesis["failures"].append(
            outcome.sentence if isinstance(outcome, Failure) else f"{outcome.model} returned an empty answer."
        )
    return synthesis


def _rapporteurs(level: Level, highest: Level) -> Sequence[Level]:
    allowed = LEVELS[: LEVELS.index(highest) + 1]
    return [level, *lower_levels(level), *allowed[allowed.index(level) + 1 :]]


async def _ask_participant(
    seat: Seat, state: CouncilState, runtime: Runtime[Context]
) -> tuple[list[AnyMessage], Answer | Failure]:
    """Return the messages sent to a participant in this round, and the outcome."""
    services = context_of(runtime).services()
    try:
        history = await _history(seat, state, runtime)
    except InvalidSkill:  # deleted while the council was interrupted
        gone = f"Its skill {seat['skill_id']!r} was deleted or can no longer be read."
        return [], Failure("refused", gone, state["expert_level"], "")
    sent = [*history, _next_request(seat, state, history, services.models.budget)]
    outcome = await services.models.call(
        state["expert_level"],
        sent,
        seconds=_seconds_to_speak(state, services.settings),
        notify=_notify(runtime, seat["alias"]),
    )
    return sent, outcome


async def _history(seat: Seat, state: CouncilState, runtime: Runtime[Context]) -> list[AnyMessage]:
    """Return a participant's message history; rebuilt from the statements when the run was resumed."""
    alias = seat["alias"]
    if history := state.get("histories", {}).get(alias):
        return history
    services = context_of(runtime).services()
    budget, vault = services.models.budget, Vault(services.settings.home, identity_of(runtime).user_id)
    skill = await asyncio.to_thread(vault.find_skill, seat["skill_id"])
    rebuilt: list[AnyMessage] = [SystemMessage(expert_prompt(seat, state["seats"], skill.instructions))]
    for statement in state["statements"]:
        if statement["alias"] == alias and not statement["absence"]:
            request = _request(seat, state, statement["round"], budget, with_context=len(rebuilt) == 1)
            rebuilt += [HumanMessage(request), AIMessage(contribution_text(statement))]
    return rebuilt


def _next_request(seat: Seat, state: CouncilState, history: list[AnyMessage], budget: int) -> HumanMessage:
    """Return this round's request, with the context unless an earlier message still sent contains it."""
    without_context = HumanMessage(_request(seat, state, state["round"], budget, with_context=False))
    context = context_block(state["brief"])
    if any(context in turn[0].text for turn in trim_turns(split_turns([*history, without_context]), budget)):
        return without_context
    return HumanMessage(_request(seat, state, state["round"], budget, with_context=True))


def _request(seat: Seat, state: CouncilState, current: int, budget: int, *, with_context: bool) -> str:
    before = [statement for statement in state["statements"] if statement["round"] == current - 1]
    return round_request(
        state["question"],
        state["brief"],
        seat,
        state["seats"],
        before,
        (current, state["rounds_planned"]),
        with_context=with_context,
        budget=budget,
    )


def _seconds_to_speak(state: CouncilState, settings: Settings) -> float:
    """Return the seconds left for this round, keeping enough for the synthesis."""
    reserve = min(settings.call_seconds, settings.council_seconds / 4)
    return max(settings.council_seconds - seconds_spent(state) - reserve, 0.0)


def _emit(runtime: Runtime[Context], event: str, **fields: Any) -> None:
    runtime.stream_writer({"type": "council", "event": event, **fields})


def _notify(runtime: Runtime[Context], who: str) -> Notify:
    """Return a callback that reports retries as council events; `retry` events belong to the chat."""
    return lambda event: _emit(runtime, "retry", who=who, reason=event.get("reason", ""))


def _public(seat: Seat) -> dict[str, str]:
    return {"alias": seat["alias"], "role": seat["role"]}


def _summary(statement: Statement) -> dict[str, Any]:
    return {key: statement[key] for key in ("stance", "confidence", "tokens", "seconds")}

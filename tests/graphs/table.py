"""A scripted council: the contributions and failures of each participant by round."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cognition.rehearsal import RehearsalServer, Reply, Request
from tests.conftest import DISTILLATION, FLASH, LITE, PRO

SEATED = ["architect", "devils-advocate", "researcher", "finance-analyst", "security-reviewer"]
DOWN = {
    "429": Reply(failure="rate_limit", retry_after=0.01),
    "timeout": Reply(text="I would have", failure="stall"),
    "block": Reply(failure="blocked"),
    "empty": Reply(failure="empty"),
}
SYNTHESIS = "## Consensus\nThey agree."


def opinion(text: str, stance: str = "Split it", confidence: int = 70, **more: Any) -> Reply:
    """Return a contribution that ends with the JSON line that experts must add."""
    position = {"stance": stance, "position": f"{stance}, all in all.", "confidence": confidence}
    return Reply(text=f"{text}\n\n{json.dumps(position)}", **more)


class Table:
    """A script for every model that a council calls.

    Args:
        rehearsal: The rehearsal server.
        replies: A participant's reply in a round, by the numbers of both.
        rapporteur: The rapporteur's reply.
        say: A function from participant and round to a reply, for those that are not in `replies`.
    """

    def __init__(
        self,
        rehearsal: RehearsalServer,
        replies: Mapping[tuple[int, int], Reply] | None = None,
        rapporteur: Reply | None = None,
        say: Callable[[int, int], Reply] = lambda who, when: opinion(f"Opinion {who} in round {when}."),
    ) -> None:
        self._server = rehearsal
        self._replies = replies or {}
        self._say = say
        self._rapporteur = rapporteur or Reply(text=SYNTHESIS)
        rehearsal.script(PRO, self._reply)
        for model in (LITE, FLASH):
            rehearsal.script(model, [self._rapporteur])
        rehearsal.script(DISTILLATION, [Reply(text="They run a monolith.")])

    def _reply(self, request: Request) -> Reply:
        if "neutral rapporteur" in request.system:
            return self._rapporteur
        who, when = number_of(request), round_of(request)
        return self._replies.get((who, when)) or self._say(who, when)

    def asked(self, who: int) -> list[Request]:
        """Return a participant's requests, oldest first; the attempts of one round count as one."""
        requests = {round_of(r): r for r in self._server.requests if r.model == PRO and number_of(r) == who}
        return list(requests.values())

    def rapporteurs(self) -> list[Request]:
        """Return the requests to rapporteurs, oldest first."""
        return [request for request in self._server.requests if "neutral rapporteur" in request.system]


def number_of(request: Request) -> int:
    """Return the participant that a request addresses."""
    found = re.search(r"You are Participant (\d+)", request.system)
    return int(found[1]) if found else 0


def round_of(request: Request) -> int:
    """Return the round that a request belongs to."""
    found = re.match(r"Round (\d+) of", request.texts[-1])
    return int(found[1]) if found else 0


def question(participants: int = 3, **more: Any) -> dict[str, Any]:
    """Return the input of a council."""
    return {"question": "Split the monolith?", "participants": ", ".join(SEATED[:participants]), **more}

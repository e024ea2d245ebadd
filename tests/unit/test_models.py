"""The seam to the models: what it sends, how long it tries, and what becomes of that."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from cognition.models import Answer, Failure
from cognition.rehearsal import RehearsalServer, Reply, Request
from cognition.rehearsal.refusals import Refusal
from cognition.services import Services
from tests.conftest import FLASH, LITE, PRO

PICTURE = {"type": "image", "base64": "QUJD", "mime_type": "image/png"}


@pytest.mark.parametrize("part", [PICTURE, {"type": "hologram"}], ids=["provider", "client"])
async def test_p4_a_picture_that_is_refused_is_named_to_the_model_instead(
    part: Any, rehearsal: RehearsalServer, services: Services
) -> None:
    def refuse_pictures(request: Request) -> Reply:
        if "inlineData" in str(request.body):
            raise Refusal(400, "INVALID_ARGUMENT", "Unable to process input image.")
        return Reply(text="I can't see it.")

    rehearsal.script(LITE, refuse_pictures)
    shown = HumanMessage([{"type": "text", "text": "Look."}, part])
    outcome = await services.models.call("MODEL_LITE", [shown])
    assert isinstance(outcome, Answer)
    assert outcome.text == "I can't see it."
    assert "could not be read" in rehearsal.requests[-1].texts[-1]
    assert shown.content[1] == part


async def test_p9_a_request_that_is_refused_is_not_repeated(
    rehearsal: RehearsalServer, services: Services
) -> None:
    def refuse(request: Request) -> Reply:
        raise Refusal(400, "INVALID_ARGUMENT", "No.")

    rehearsal.script(PRO, refuse)
    outcome = await services.models.call("MODEL_PRO", [HumanMessage("Hi")], fall_back=True)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.role) == ("refused", "MODEL_PRO")
    assert len(rehearsal.requests) == 1


async def test_p77_no_seconds_left_is_not_no_limit(rehearsal: RehearsalServer, services: Services) -> None:
    rehearsal.script(PRO, [Reply(text="Too late.")])
    events: list[dict[str, Any]] = []
    outcome = await services.models.call(
        "MODEL_PRO", [HumanMessage("Hi")], fall_back=True, seconds=0, notify=events.append
    )
    assert isinstance(outcome, Failure)
    assert outcome.kind == "unavailable"
    assert events == []
    assert rehearsal.requests == []


async def test_the_time_of_a_call_is_shared_by_the_levels_that_it_falls_back_to(
    rehearsal: RehearsalServer, services: Services
) -> None:
    for model in (PRO, FLASH, LITE):
        rehearsal.script(model, [Reply(text="Late.", latency=5)])
    outcome = await services.models.call("MODEL_PRO", [HumanMessage("Hi")], fall_back=True, seconds=0.3)
    assert isinstance(outcome, Failure)
    assert outcome.seconds < 2
    assert {request.model for request in rehearsal.requests} == {PRO}

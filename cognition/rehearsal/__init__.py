"""The Gemini stand-in: keyless mode, tests and benchmarks speak to it over real HTTP."""

from cognition.rehearsal.responder import NOTICE
from cognition.rehearsal.script import Call, Reply, Request, Script
from cognition.rehearsal.server import RehearsalServer, rehearsal_url

__all__ = ["NOTICE", "Call", "RehearsalServer", "Reply", "Request", "Script", "rehearsal_url"]

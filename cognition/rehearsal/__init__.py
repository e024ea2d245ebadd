"""The Gemini stand-in: keyless mode, tests and benchmarks speak to it over real HTTP."""

from cognition.rehearsal.script import Call, Reply, Request, Script
from cognition.rehearsal.server import RehearsalServer, rehearsal_url

__all__ = ["Call", "RehearsalServer", "Reply", "Request", "Script", "rehearsal_url"]

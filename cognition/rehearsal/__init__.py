"""The rehearsal server: a stand-in for Gemini over HTTP, for use without a key, tests and benchmarks."""

from cognition.rehearsal.responder import NOTICE
from cognition.rehearsal.script import Call, Reply, Request, Script
from cognition.rehearsal.server import RehearsalServer, rehearsal_url

__all__ = ["NOTICE", "Call", "RehearsalServer", "Reply", "Request", "Script", "rehearsal_url"]

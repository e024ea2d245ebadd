"""A council of experts: request, briefing, statements, positions and report."""

"""A council of experts: request, briefing, statements, positions, result and report."""

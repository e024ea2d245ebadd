"""Sub-agents: assignment, thread, compaction, question and report."""

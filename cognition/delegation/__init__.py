"""Sub-agents: assignments, threads, compaction, questions and reports."""

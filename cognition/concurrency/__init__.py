"""Concurrency helpers: tasks, event loops, locks and background jobs."""

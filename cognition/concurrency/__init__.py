"""Tasks, threads, locks and background jobs."""

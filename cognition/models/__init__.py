"""Chat models: client, outcomes, retries and prices."""

"""Chat models behind one seam: client, outcomes, retries and prices."""

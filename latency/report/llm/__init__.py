"""The language models of a run: budget, requests and their ends, waste and cost, speculation."""

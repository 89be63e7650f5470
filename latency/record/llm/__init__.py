"""What a run folder keeps of language models: answers, the requests made for them, and prices."""

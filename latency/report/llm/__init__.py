"""What a run says of its language models: how they kept their budget, how requests ended, what was wasted and paid."""

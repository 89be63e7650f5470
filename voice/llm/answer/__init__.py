"""One answer: tiers asked under a policy, a deadline kept, the loser cancelled."""

"""One answer: asks tiers under a policy, keeps a deadline, cancels the losers."""

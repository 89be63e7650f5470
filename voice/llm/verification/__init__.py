"""A draft of the fast tier, which another tier verifies while its first sentence is heard."""

"""The simulator's wire of Anthropic's Messages."""

"""The agent's own voice in the microphone: found by its words, kept from interrupting and from becoming a turn."""

"""faster-whisper: its weights, one model shared by all calls, and the recogniser of a call."""

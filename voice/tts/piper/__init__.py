"""Piper: a voice shared by all calls, and the speech service of a call."""

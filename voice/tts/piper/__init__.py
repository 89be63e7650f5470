"""Piper: a voice shared by all calls, and a call's speech service."""

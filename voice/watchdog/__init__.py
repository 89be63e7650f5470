"""Finds a hanging part of a call, explains the silence, and frees that part or ends the call."""

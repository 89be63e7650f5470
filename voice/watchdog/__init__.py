"""Finds the part of a call that hangs, says why nothing is heard, and frees that part or ends the call."""

"""The user who speaks in a call: a script that plays recordings, or a person."""

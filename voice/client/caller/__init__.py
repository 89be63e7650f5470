"""The user of a call: a script that plays recordings, or a person."""

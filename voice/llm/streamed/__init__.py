"""The streamed output of a request: its words alone, in pieces that are ready to be spoken."""

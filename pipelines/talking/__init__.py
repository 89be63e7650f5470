"""`voice talk`: a call by microphone and loudspeaker, and the keys that control it."""

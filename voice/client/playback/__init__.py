"""The loudspeaker's side of a call: jitter buffer, playout and the recording of both sides."""

"""The sound of a recording: onsets and ends of speech, loudness, drop-outs."""

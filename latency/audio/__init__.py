"""What is audible in a recording: onsets, ends of speech, loudness, drop-outs."""

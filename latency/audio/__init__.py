"""What can be heard in a recording: onsets, ends of speech, loudness, drop-outs."""

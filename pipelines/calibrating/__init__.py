"""How Whisper decodes fastest, with these weights on this machine, without getting more words wrong."""

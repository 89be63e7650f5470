"""Finds the fastest decoding of Whisper weights on this machine that gets no more words wrong."""

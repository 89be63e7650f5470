"""The question after a silence, the end of a call at goodbye, and transcripts."""

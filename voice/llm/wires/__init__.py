"""What servers of language models send, read tolerantly into a few typed events: one reading for every protocol."""

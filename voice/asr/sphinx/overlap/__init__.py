"""What sounds over an answer are like, whatever their words: backchannels or interruptions."""

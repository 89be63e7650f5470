"""What a request streams: its words without its thoughts, and the pieces that are ready to be spoken."""

"""What a request streams: its words alone, and the pieces that are ready to be spoken."""

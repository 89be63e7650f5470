"""Turn taking: when the user is speaking, and when the user has finished, on pipecat's turn strategies."""

"""Turn taking: when the user speaks and when the user has finished, built on pipecat's turn strategies."""

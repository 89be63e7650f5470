"""Speech recognition: audio of an utterance in, its words out."""

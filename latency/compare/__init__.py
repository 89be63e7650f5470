"""Two runs compared: the same turns of both, the differences between them, and a verdict."""

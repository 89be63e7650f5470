"""The difficulty of a turn, by the caller's words, which decides the model that may answer it. Pure."""

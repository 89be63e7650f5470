"""The web page of a server: talk to its agent, and see how long each turn took."""

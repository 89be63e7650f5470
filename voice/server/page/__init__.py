"""The page that a server shows to browsers: talk to its agent, and see what each turn took."""

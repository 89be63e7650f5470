"""The wire between client and server, defined once for both ends."""

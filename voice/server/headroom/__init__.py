"""Whether a server has what another call would need: how busy its loop is, how long work waits, and what follows."""

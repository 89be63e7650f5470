"""One call as a client holds it: dialled, paced, recorded."""

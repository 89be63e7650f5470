"""Calls from pipecat's eval harness (`pipecat eval run`)."""

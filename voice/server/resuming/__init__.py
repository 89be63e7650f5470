"""Calls that survive a broken connection: they wait for their clients, and go on where they were."""

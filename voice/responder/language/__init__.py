"""Spoken English as the responder reads and writes it: templates, numbers, durations, units."""

"""Decides which tier is asked, spoken and cancelled, and when. Pure: no I/O, no clock."""

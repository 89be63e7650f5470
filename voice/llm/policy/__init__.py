"""Decides which tiers are asked, spoken and cancelled, and when. Pure: no I/O, no clock."""

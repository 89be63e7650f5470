"""Models that can be pulled by name: one table of them, where they are here, and how they are got."""

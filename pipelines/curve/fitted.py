"""The speakers whose recordings our rule was fitted to: figures for them say nothing about other people."""

FITTED_SPEAKERS = frozenset({"Allison Smith"})
"""By their names in scenarios (`speaker:`)."""

"""The lab: comparisons, curves, simulations and probes. Each loads when its command runs; the product imports none."""
